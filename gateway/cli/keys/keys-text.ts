// API keys as text for a terminal. The secret of a new key is printed separately.
import type { KeyBody, NewKeyAnswer } from '../../api/admin-answers.ts';
import type { NextCommand } from '../../plan/next-command.ts';
import { plural } from '../../plan/problems.ts';
import { moment, onTerminal } from '../terminal-text.ts';

const NOT_ACCEPTED =
  'Warning: no API accepts API keys, so this key has no effect. Add access: { identity: keys, scopes: any } to a policy. It names an identity of the gateway file, such as keys: { header: X-API-Key }. If you add that one too, restart the gateway.';

const scopeWarning = (scopes: readonly string[]): string =>
  `Warning: no policy names the ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}. Scopes are case-sensitive and must match whole. If this is a slip, revoke this key and make another.`;

export function madeText({ key, takenBy, unknownScopes = [] }: NewKeyAnswer, next: NextCommand): string {
  const overlap = key.overlap === null ? [] : [`The previous secret is valid until ${moment(key.overlap)}.`];
  return onTerminal([
    '',
    `The key ${key.id} of ${key.consumer}${scopesText(key)}. It is shown only once.`,
    ...overlap,
    ...(takenBy?.length === 0 ? [NOT_ACCEPTED] : []),
    ...(unknownScopes.length === 0 ? [] : [scopeWarning(unknownScopes)]),
    `Revoke it: ${next('keys', 'revoke', key.id, '--why', '"…"')}`,
  ]);
}

export function keysText({ keys }: { readonly keys: readonly KeyBody[] }, next: NextCommand): string {
  if (keys.length === 0)
    return `There are no API keys. Make one: ${next('keys', 'add', '<consumer>', '--why', '"…"')}\n`;
  const lines = keys.map((key) =>
    [
      `${key.id}  ${key.state.padEnd(7)}  ${key.consumer}${scopesText(key)}`,
      `made ${moment(key.created)}`,
      ...(key.rotated === null ? [] : [`rotated ${moment(key.rotated)}`]),
      ...(key.overlap === null ? [] : [`previous secret valid until ${moment(key.overlap)}`]),
      ...(key.expires === null ? [] : [`until ${moment(key.expires)}`]),
      ...(key.revoked === null ? [] : [`revoked ${moment(key.revoked)}`]),
      ...(key.contact === null ? [] : [key.contact]),
    ].join(', '),
  );
  return onTerminal([`${plural(keys.length, 'API key')}:`, ...lines]);
}

export function revokedText(key: KeyBody): string {
  return onTerminal([
    `Revoked the key ${key.id} of ${key.consumer}: all gateways refuse it within a second.`,
  ]);
}

function scopesText({ scopes }: KeyBody): string {
  return scopes.length === 0 ? ', without scopes' : ` for ${scopes.join(' ')}`;
}
