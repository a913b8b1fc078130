// `sundial keys`: the API keys of the store: made, listed, given another secret, ended.
// Speaks to the admin listener of a running gateway; a new key is printed once and kept nowhere.
import {
  type KeyBody,
  type NewKeyAnswer,
  readKeyAnswer,
  readKeysAnswer,
  readNewKeyAnswer,
} from '../api/admin-answers.ts';
import { type NextCommand, nextCommand } from '../plan/next-command.ts';
import { plural } from '../plan/problems.ts';
import { type AdminAsk, askAdmin, segment } from './admin-client.ts';
import { moment, onTerminal } from './admin-text.ts';
import type { ApartResult } from './check.ts';
import { failed, type OperatorFormat, told } from './operator-result.ts';
import { type Failure, findGateway, type WhichGateway } from './running-gateway.ts';

export interface KeysOptions extends WhichGateway {
  readonly format: OperatorFormat;
  readonly ask: KeysAsk;
}

interface Author {
  readonly by: string;
  readonly why: string;
}

export type KeysAsk =
  | { readonly kind: 'list' }
  | (Author & {
      readonly kind: 'add';
      readonly consumer: string;
      readonly scopes: readonly string[];
      readonly contact: string | undefined;
      /** As written. */
      readonly expires: string | undefined;
    })
  /** `overlap`: a duration as written; undefined: as the gateway has it. */
  | (Author & { readonly kind: 'rotate'; readonly id: string; readonly overlap: string | undefined })
  | (Author & { readonly kind: 'revoke'; readonly id: string });

export async function runKeys({ format, ask, ...which }: KeysOptions): Promise<ApartResult> {
  const next = nextCommand(which);
  const door = await findGateway(which);
  if (door.kind === 'failed') return failed(door, format);
  const answer = await askAdmin(door, requestOf(ask));
  if (answer.kind === 'failed') return failed(inCommandWords(answer, next), format);
  switch (ask.kind) {
    case 'list':
      return told(answer, readKeysAnswer, { format, render: ({ keys }) => listText(keys, next) });
    case 'add':
    case 'rotate':
      return told(answer, readNewKeyAnswer, {
        format,
        render: ({ secret }) => onTerminal([secret]),
        note: (made) => madeText(made, next),
      });
    case 'revoke':
      return told(answer, readKeyAnswer, { format, render: ({ key }) => revokedText(key) });
    default:
      return ask satisfies never;
  }
}

/** What the admin API says of its addresses is a command here. */
function inCommandWords({ text, ...failure }: Failure, next: NextCommand): Failure {
  const commands: Readonly<Record<string, string>> = {
    GET: next('keys', 'list'),
    POST: next('keys', 'add', '<consumer>', '--why', '"…"'),
  };
  const said = text.replace(
    /\b(GET|POST) \/-\/keys\b/g,
    (written, method: string) => commands[method] ?? written,
  );
  return { ...failure, text: said };
}

function requestOf(ask: KeysAsk): AdminAsk {
  switch (ask.kind) {
    case 'list':
      return { method: 'GET', path: '/-/keys' };
    case 'add': {
      const { consumer, scopes, contact, expires, by, why } = ask;
      const body = {
        consumer,
        scopes,
        ...(contact !== undefined && { contact }),
        ...(expires !== undefined && { expires }),
        by,
        why,
      };
      return { method: 'POST', path: '/-/keys', body };
    }
    case 'rotate': {
      const { id, overlap, by, why } = ask;
      const body = { ...(overlap !== undefined && { overlap }), by, why };
      return { method: 'POST', path: `/-/keys/${segment(id)}/rotate`, body };
    }
    case 'revoke':
      return { method: 'DELETE', path: `/-/keys/${segment(ask.id)}`, body: { by: ask.by, why: ask.why } };
    default:
      return ask satisfies never;
  }
}

const NOBODY_TAKES_IT =
  'Warning: no API takes API keys, so that it opens nothing. Write an identity such as keys: { header: X-API-Key } into the gateway file, and name it in the access of a policy.';

const scopeWarning = (scopes: readonly string[]): string =>
  `Warning: no policy names the ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}. Scopes are compared whole and by case: look for a slip, then revoke this key and make another.`;

/** The text that goes with a new key, without the key itself. */
export function madeText({ key, takenBy, unknownScopes = [] }: NewKeyAnswer, next: NextCommand): string {
  const overlap = key.overlap === null ? [] : [`The one before works until ${moment(key.overlap)}.`];
  return onTerminal([
    '',
    `The key ${key.id} of ${key.consumer}${scopesText(key)}. It is shown this once: nobody can read it again.`,
    ...overlap,
    ...(takenBy?.length === 0 ? [NOBODY_TAKES_IT] : []),
    ...(unknownScopes.length === 0 ? [] : [scopeWarning(unknownScopes)]),
    `End it: ${next('keys', 'revoke', key.id, '--why', '"…"')}`,
  ]);
}

function listText(keys: readonly KeyBody[], next: NextCommand): string {
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

function revokedText(key: KeyBody): string {
  return onTerminal([
    `Revoked the key ${key.id} of ${key.consumer}: within a second no gateway takes it any more.`,
  ]);
}

function scopesText({ scopes }: KeyBody): string {
  return scopes.length === 0 ? ', without scopes' : ` for ${scopes.join(' ')}`;
}
