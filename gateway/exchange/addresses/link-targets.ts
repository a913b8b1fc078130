// The targets of a Link line (RFC 8288), and the anchors: mapped one by one, every other byte as it was.
// The links of the gateway are added later and never come here.
import { type AddressMapping, mapAddress } from './map-address.ts';

const LINK_VALUE = /^(\s*<)([^>]*)(>)(.*)$/s;
const ANCHOR = /(;\s*anchor\s*=\s*")([^"\\]*)(?=")/gi;

/** Undefined where nothing is left: a link is left out where it would show an address of the service. */
export function mapLinks(line: string, mapping: AddressMapping): string | undefined {
  const mapped = linkValues(line).flatMap((value) => mapLink(value, mapping) ?? []);
  return mapped.length === 0 ? undefined : mapped.join(',').trimStart();
}

function mapLink(value: string, mapping: AddressMapping): string | undefined {
  const [, open, target, close, parameters] = LINK_VALUE.exec(value) ?? [];
  if (target === undefined) return mapping.own.isShownIn(value) ? undefined : value;
  const mapped = mapAddress(target, mapping);
  if (mapped === undefined) return undefined;
  const rest = parameters?.replace(ANCHOR, (whole, before: string, anchor: string) => {
    const there = mapAddress(anchor, mapping);
    return there === undefined ? whole : before + there;
  });
  return rest !== undefined && mapping.own.isShownIn(rest) ? undefined : `${open}${mapped}${close}${rest}`;
}

/** The values of the list, blanks included: a comma in a target or in a quoted-string divides nothing. */
function linkValues(line: string): readonly string[] {
  const values: string[] = [];
  let start = 0;
  let inTarget = false;
  let inString = false;
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (inTarget) inTarget = character !== '>';
    else if (character === '"') inString = true;
    else if (character === '<') inTarget = true;
    else if (character === ',') {
      values.push(line.slice(start, index));
      start = index + 1;
    }
  }
  values.push(line.slice(start));
  return values;
}
