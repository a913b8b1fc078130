// Checks `headers`: reserved fields, and client fields that may be kept.

import type { Path } from '../../plan/read/document.ts';
import { keysOf, valueAt } from '../../plan/read/values.ts';
import { clientField } from '../../policy/headers/client-fields.ts';
import { parseFieldName } from '../../policy/headers/field-name.ts';
import { type CheckContext, isWritten, type PolicyView, type Report } from '../view.ts';
import { reservedField, versionCarriers } from './gateway-fields.ts';

const AT: Path = ['headers', 'request'];
const KEEP: Path = [...AT, 'keep'];

export function checkHeaders(view: PolicyView, context: CheckContext, report: Report): void {
  checkEdits(view, report);
  checkKept(view, context, report);
}

function checkEdits(view: PolicyView, report: Report): void {
  for (const direction of ['request', 'response'] as const) {
    const at: Path = ['headers', direction];
    // If the field is also in keep, the finding is reported there.
    const kept = (direction === 'request' && view.parts.headers?.request?.keep) || [];
    const set = keysOf(valueAt(view.document.value, [...at, 'set']));
    const seen = new Set<string>();
    for (const written of set) {
      const place = [...at, 'set', written];
      const name = parseFieldName(written);
      if (name === undefined) report(place, { rule: 'headers', message: 'not a field name', at: 'key' });
      else if (!kept.includes(name)) judge(name, direction, place, 'key');
      if (name !== undefined && seen.has(name))
        report(place, { rule: 'headers', message: `${name} is set above`, at: 'key' });
      if (name !== undefined) seen.add(name);
    }
    for (const [index, name] of (view.parts.headers?.[direction]?.remove ?? []).entries()) {
      const place = [...at, 'remove', index];
      if (kept.includes(name)) continue;
      judge(name, direction, place, 'value');
      if (seen.has(name))
        report(place, {
          rule: 'headers',
          message: `${name} is in set too, which replaces it`,
          hint: 'name it in one of the two',
        });
    }
  }

  function judge(name: string, direction: 'request' | 'response', place: Path, at: 'key' | 'value'): void {
    const why = reservedField(name, direction, view);
    if (why === undefined) return;
    report(place, {
      rule: 'headers',
      message: `${name} is reserved for the gateway: it carries ${why.meaning}`,
      hint: why.hint,
      at,
    });
  }
}

function checkKept(view: PolicyView, context: CheckContext, report: Report): void {
  const { keep, from } = view.parts.headers?.request ?? {};
  checkFrom(view, report);
  for (const [index, name] of (keep ?? []).entries()) {
    const place = [...KEEP, index];
    const also = alsoIn(name, view);
    const message = keep?.indexOf(name) === index ? reasonNotToKeep(name, view) : `${name} is listed above`;
    if (message !== undefined) report(place, { rule: 'headers', message });
    else if (also.length > 0) {
      const message = `${name} is in keep and in ${also.join(' and ')}`;
      const hint = `name it in one of them: ${['keep', ...also].map((key) => EFFECTS[key]).join(', ')}`;
      report(place, { rule: 'headers', message, hint });
    } else if (clientField(name).kind === undefined)
      report(place, {
        rule: 'headers',
        severity: 'warning',
        message: `keep has no effect: ${name} is forwarded anyway`,
        hint: 'remove it',
      });
  }
  if (keep === undefined || from !== 'trusted_proxies' || context.trustsProxies !== false) return;
  report([...AT, 'from'], {
    rule: 'headers',
    severity: 'warning',
    message: 'keep has no effect: gateway.yaml has no trusted_proxies',
    hint: 'add the addresses of your proxies there',
  });
}

function checkFrom(view: PolicyView, report: Report): void {
  const [keep, from] = [isWritten(view, KEEP), isWritten(view, [...AT, 'from'])];
  if (keep && !from)
    report(KEEP, {
      rule: 'headers',
      message: 'keep needs from: the requests whose fields are kept',
      hint: 'write from: trusted_proxies if your proxies set the fields, or from: any',
      at: 'key',
    });
  if (from && !keep)
    report([...AT, 'from'], { rule: 'headers', message: 'from has no effect without keep', at: 'key' });
}

const EFFECTS: Readonly<Record<string, string>> = {
  keep: 'keep lets the value of the client through',
  set: 'set replaces it',
  remove: 'remove drops it',
};

function alsoIn(name: string, view: PolicyView): readonly string[] {
  const { set, remove } = view.parts.headers?.request ?? {};
  const isSet = Object.keys(set ?? {})
    .map(parseFieldName)
    .includes(name);
  return [...(isSet ? ['set'] : []), ...(remove?.includes(name) ? ['remove'] : [])];
}

function reasonNotToKeep(name: string, view: PolicyView): string | undefined {
  if (clientField(name).kind === 'own')
    return `${name} cannot be kept: it belongs to the connection, or the gateway sets it`;
  if (versionCarriers(view).has(name)) return `${name} cannot be kept: it carries the version`;
  const identityHeaders = Object.values(view.parts.upstreams ?? {}).flatMap(
    ({ identity_headers: fields }) => [fields?.consumer, fields?.scopes],
  );
  return identityHeaders.includes(name) ? `${name} cannot be kept: identity_headers sets it` : undefined;
}
