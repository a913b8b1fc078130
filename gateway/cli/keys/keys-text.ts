// API keys as text for a terminal. The secret of a new key is printed separately.
import type { KeyBody, NewKeyAnswer } from '../../api/admin-answers.ts';
import type { NextCommand } from '../../plan/next-command.ts';
import { plural } from '../../plan/problems.ts';
import { moment, onTerminal } from '../terminal-text.ts';

const NOT_ACCEPTED =
  'Warning: no API takes API keys, so that it opens nothing. Write identity: { keys: { header: X-API-Key } } into the gateway file, restart the gateway, and write access: { identity: keys, scopes: any } into a policy.';

const scopeWarning = (scopes: readonly string[]): string =>
  `Warning: no policy names the ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}. Scopes are compared whole and by case: look for a slip, then revoke this key and make another.`;

export function madeText({ key, takenBy, unknownScopes = [] }: NewKeyAnswer, next: NextCommand): string {
  const overlap = key.overlap === null ? [] : [`The one before works until ${moment(key.overlap)}.`];
  return onTerminal([
    '',
    `The key ${key.id} of ${key.consumer}${scopesText(key)}. It is shown only once.`,
    ...overlap,
    ...(takenBy?.length === 0 ? [NOT_ACCEPTED] : []),
    ...(unknownScopes.length === 0 ? [] : [scopeWarning(unknownScopes)]),
    `End it: ${next('keys', 'revoke', key.id, '--why', '"…"')}`,
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
      ...(key.overlap === null ? [] : [`the one before works until ${moment(key.overlap)}`]),
      ...(key.expires === null ? [] : [`until ${moment(key.expires)}`]),
      ...(key.revoked === null ? [] : [`revoked ${moment(key.revoked)}`]),
      ...(key.contact === null ? [] : [key.contact]),
    ].join(', '),
  );
  return onTerminal([`${plural(keys.length, 'API key')}:`, ...lines]);
}

export function revokedText(key: KeyBody): string {
  return onTerminal([
    `Revoked the key ${key.id} of ${key.consumer}: within a second no gateway takes it any more.`,
  ]);
}

function scopesText({ scopes }: KeyBody): string {
  return scopes.length === 0 ? ', without scopes' : ` for ${scopes.join(' ')}`;
}
