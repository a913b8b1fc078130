// Reads `Accept`: versions with their weights, the list for the upstream, and preferred media types.
import { mediaType } from '@hapi/accept';
import { type ContentType, isTypeValid } from 'content-type';
import type { Fields } from '../contract.ts';
import {
  allValues,
  isRepeated,
  normalisedType,
  otherVersionsIn,
  parseMediaType,
  plainType,
  versionIn,
} from './media-type.ts';
import { malformedParameter, misspeltIn, unreadableIn } from './misspelt-type.ts';
import type { Claim, MediaTemplate, Preference } from './resolution.ts';

interface Member {
  readonly media: ContentType;
  readonly text: string;
}

export const NO_PREFERENCES: readonly Preference[] = [];
const NO_OTHER_CLAIMS: Preference['also'] = [];
const WEIGHT = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * NEG-1 to NEG-3: the version that each member names, in listing order. A member with a misspelt version, or with a version
 * and an invalid weight, counts as an unknown version. Other members that are no media range are ignored.
 */
export function readPreferences(templates: readonly MediaTemplate[], headers: Fields): readonly Preference[] {
  const accept = headers.get('accept');
  if (accept === undefined) return NO_PREFERENCES;
  return membersOf(accept).flatMap((member): Preference[] => {
    const { media, text } = member;
    const weight = weightOf(member);
    const named = versionIn(templates, media);
    const misspelt =
      misspeltIn(templates, media, text) ??
      unreadableIn(templates, media, text) ??
      (named !== undefined && weight === undefined ? text : undefined);
    if (misspelt !== undefined) {
      const claim: Claim = { carrier: 'accept', value: misspelt };
      return [{ claim, also: NO_OTHER_CLAIMS, weight: weight ?? 1000, isAny: false }];
    }
    if (weight === undefined || !isTypeValid(media.type)) return [];
    if (named === undefined)
      return [{ claim: undefined, also: NO_OTHER_CLAIMS, weight, isAny: media.type === '*/*' }];
    const claim: Claim = { carrier: 'accept', ...named };
    const others = otherVersionsIn(templates, media, text, named);
    return [{ claim, also: others.map((value) => ({ carrier: 'accept', value })), weight, isAny: false }];
  });
}

/**
 * VER-9: the list for an upstream, which knows only plain types. Members that name the resolved version, as `means`
 * decides, become plain. Members that name another version are removed. Undefined if no member is left.
 */
export function plainAccept(
  templates: readonly MediaTemplate[],
  accept: string,
  means: (claim: Claim) => boolean,
): string | undefined {
  const kept: string[] = [];
  for (const { media, text } of membersOf(accept)) {
    if (!isTypeValid(media.type)) continue;
    // The upstream may read a version where this reader sees a misspelt one.
    if (misspeltIn(templates, media, text) !== undefined) continue;
    const version = versionIn(templates, media);
    if (version === undefined) {
      // An unterminated quoted string could hide a member from this reader and show it to the upstream (ORD-2).
      kept.push(text.includes('"') ? normalisedType(media) : text);
    } else if ((weightOf({ media, text }) ?? 0) > 0 && means({ carrier: 'accept', ...version })) {
      kept.push(plainType(templates, media));
    }
  }
  return kept.length === 0 ? undefined : kept.join(', ');
}

/**
 * NEG-5: the media type form in which the client wants the resolved version, as `means` decides: that of its member with
 * the highest weight. Undefined without one, or if a member without a version has a higher weight.
 */
export function wantedTemplate(
  templates: readonly MediaTemplate[],
  accept: string,
  means: (claim: Claim) => boolean,
): MediaTemplate | undefined {
  let best: { readonly template: MediaTemplate; readonly weight: number } | undefined;
  let open = 0;
  for (const member of membersOf(accept)) {
    const { media, text } = member;
    const weight = weightOf(member) ?? 0;
    if (weight === 0 || !isTypeValid(media.type) || misspeltIn(templates, media, text) !== undefined)
      continue;
    const template = templates.find((each) => versionIn([each], media) !== undefined);
    const version = template && versionIn([template], media);
    if (template === undefined || version === undefined) open = Math.max(open, weight);
    else if (weight > (best?.weight ?? 0) && means({ carrier: 'accept', ...version }))
      best = { template, weight };
  }
  return best === undefined || best.weight < open ? undefined : best.template;
}

/** NEG-1: commas inside quotes do not separate, and empty members are skipped. */
function membersOf(accept: string): readonly Member[] {
  const members: Member[] = [];
  for (let start = 0; start < accept.length; ) {
    const media = parseMediaType(accept, { start });
    if (media.type !== '') members.push({ media, text: accept.slice(start, media.index).trim() });
    start = media.index + 1;
  }
  return members;
}

/** NEG-2: thousandths. Undefined for an invalid or repeated weight. */
function weightOf({ media, text }: Member): number | undefined {
  const { q } = media.parameters;
  if (q === undefined) return malformedParameter(text, 'q') === undefined ? 1000 : undefined;
  if (!WEIGHT.test(q)) return undefined;
  const mayHide = isRepeated(text, 'q') || text.includes('"');
  if (mayHide && (malformedParameter(text, 'q') !== undefined || allValues(text, 'q').length > 1))
    return undefined;
  return Math.round(Number(q) * 1000);
}

/**
 * The type of `offered` that `accept` ranks highest. The first one if the field is absent or malformed, wants none of them,
 * or ranks them equally. Another type wins only if `accept` spells it out (ERR-2).
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  offered: readonly [T, ...T[]],
): T {
  const [first, ...others] = offered;
  if (accept === undefined) return first;
  const spelled = accept.toLowerCase();
  // A fast path for most requests: a wildcard or an unrelated type needs no parser.
  const candidates = others.filter((type) => spelled.includes(type));
  if (candidates.length === 0) return first;
  const best = readRanking(accept, [first, ...candidates]);
  return offered.find((type) => type === best) ?? first;
}

function readRanking(accept: string, types: readonly string[]): string {
  try {
    return mediaType(accept, types).split(';', 1)[0] ?? '';
  } catch {
    // The parser throws for a malformed field. Error bodies and pages must not fail because of it.
    return '';
  }
}
