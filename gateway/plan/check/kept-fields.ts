// Cross checks of `headers.request.keep`: which fields of clients go on although the gateway drops them otherwise.

import { parseFieldName } from '../grammar/message-sections.ts';
import type { Path } from '../read/document.ts';
import { clientField } from '../upstreams/client-fields.ts';
import { versionCarriers } from './headers.ts';
import { isWritten, type PolicyView, type Report, type Surroundings } from '../../sections/view.ts';

const AT: Path = ['headers', 'request'];
const KEEP: Path = [...AT, 'keep'];

export function checkKept(view: PolicyView, around: Surroundings, report: Report): void {
  const { keep, from } = view.parts.headers?.request ?? {};
  checkFrom(view, report);
  for (const [index, name] of (keep ?? []).entries()) {
    const place = [...KEEP, index];
    const also = alsoIn(name, view);
    const message = keep?.indexOf(name) === index ? whyNotKept(name, view) : `${name} is listed above`;
    if (message !== undefined) report(place, { rule: 'headers', message });
    else if (also.length > 0) {
      const message = `${name} is in keep and in ${also.join(' and ')}`;
      const hint = `name it in one of them: ${['keep', ...also].map((key) => EFFECTS[key]).join(', ')}`;
      report(place, { rule: 'headers', message, hint });
    } else if (clientField(name).kind === undefined)
      report(place, {
        rule: 'headers',
        severity: 'warning',
        message: `keep has no effect on ${name}, which is not dropped`,
        hint: 'leave it out',
      });
  }
  if (keep === undefined || from !== 'trusted_proxies' || around.trustsProxies !== false) return;
  report([...AT, 'from'], {
    rule: 'headers',
    severity: 'warning',
    message: 'nothing is kept: gateway.yaml names no trusted_proxies',
    hint: 'add the addresses of your proxies there',
  });
}

function checkFrom(view: PolicyView, report: Report): void {
  const [keep, from] = [isWritten(view, KEEP), isWritten(view, [...AT, 'from'])];
  if (keep && !from)
    report(KEEP, {
      rule: 'headers',
      message: 'keep needs from: for which requests the fields go on',
      hint: 'write from: trusted_proxies if your proxies set them, or from: any',
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

function whyNotKept(name: string, view: PolicyView): string | undefined {
  if (clientField(name).kind === 'own')
    return `${name} cannot be kept: it belongs to the connection, or the gateway sets it`;
  if (versionCarriers(view).has(name)) return `${name} cannot be kept: it carries the version`;
  const told = Object.values(view.parts.upstreams ?? {}).flatMap(({ identity_headers: fields }) => [
    fields?.consumer,
    fields?.scopes,
  ]);
  return told.includes(name) ? `${name} cannot be kept: identity_headers sets it` : undefined;
}
