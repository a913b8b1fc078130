// `sundial keys`: creates, lists, rotates and revokes API keys.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readKeyAnswer, readKeysAnswer, readNewKeyAnswer } from '../../api/admin-answers.ts';
import type { NextCommand } from '../../plan/next-command.ts';
import { type ApiCall, call, type GatewayAction, segment } from '../admin-call.ts';
import {
  type AuthorOptions,
  authorOf,
  onGateway,
  readDuration,
  readName,
  withAuthor,
  withGateway,
} from '../admin-command.ts';
import { type CommandSetting, readInstantText, withCalls } from '../command-setting.ts';
import { onTerminal } from '../terminal-text.ts';
import { keysText, madeText, revokedText } from './keys-text.ts';

const CALLS = `Usual calls:
  sundial keys add acme --scope orders:read --contact api@acme.example --why "contract 4711"
  sundial keys list
  sundial keys rotate <id> --overlap 7d --why "yearly"
  sundial keys revoke <id> --why "leaked"`;

interface AddOptions extends AuthorOptions {
  readonly scope: readonly string[];
  readonly contact?: string;
  readonly expires?: string;
}

/** Scopes are separated by commas or blanks, as in the lists that people copy. */
function readScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  if (scopes.length === 0) throw new InvalidArgumentError('The value names no scope.');
  return scopes;
}

export function addKeyCommands(program: Command, setting: Pick<CommandSetting, 'openGateway' | 'end'>): void {
  const keys = withCalls(program.command('keys'), CALLS).description(
    'make, list, rotate and revoke the API keys of consumers',
  );
  const part = (name: string, description: string) =>
    withGateway(keys.command(name).description(description)).addOption(
      new Option('--json', 'print as JSON').conflicts('format'),
    );
  const change = (name: string, description: string) => withAuthor(part(name, description));

  onGateway(part('list', 'list all keys by their public parts, without secrets'), setting, () =>
    call({
      request: { method: 'GET', path: '/-/keys' },
      read: readKeysAnswer,
      render: keysText,
      inCommandWords,
    }),
  );
  const add = change('add', 'make a key; it is printed once and not stored')
    .argument('<consumer>', 'consumer that calls with the key', readName)
    .addOption(
      new Option('--scope <scopes>', 'scopes of the key, separated by commas or blanks; may be repeated')
        .argParser((text: string, before: readonly string[]) => [...before, ...readScopes(text)])
        .default([], 'none'),
    )
    .option('--contact <mail>', 'mail address for messages about this key')
    .addOption(
      new Option('--expires <date>', 'day or instant at which the key expires').argParser(readInstantText),
    );
  onGateway(add, setting, (consumer: string, { scope: scopes, contact, expires, ...author }: AddOptions) => {
    const body = { consumer, scopes, contact, expires, ...authorOf(keys, author) };
    return newKey({ method: 'POST', path: '/-/keys', body });
  });
  const rotate = change('rotate', 'replace the secret of a key; the previous secret stays valid for a while')
    .argument('<id>', 'the public part of the key', readName)
    .addOption(
      new Option('--overlap <duration>', 'validity of the previous secret; default 1d').argParser(
        readDuration,
      ),
    );
  onGateway(
    rotate,
    setting,
    (id: string, { overlap, ...author }: AuthorOptions & { readonly overlap?: string }) => {
      const body = { overlap, ...authorOf(keys, author) };
      return newKey({ method: 'POST', path: `/-/keys/${segment(id)}/rotate`, body });
    },
  );
  const revoke = change('revoke', 'end a key at once, on every gateway').argument(
    '<id>',
    'the public part of the key',
    readName,
  );
  onGateway(revoke, setting, (id: string, author: AuthorOptions) =>
    call({
      request: { method: 'DELETE', path: `/-/keys/${segment(id)}`, body: { ...authorOf(keys, author) } },
      read: readKeyAnswer,
      render: ({ key }) => revokedText(key),
      inCommandWords,
    }),
  );
}

function newKey(request: ApiCall): GatewayAction {
  return call({
    request,
    read: readNewKeyAnswer,
    render: ({ secret }) => onTerminal([secret]),
    note: madeText,
    inCommandWords,
  });
}

function inCommandWords(text: string, next: NextCommand): string {
  const commands: Readonly<Record<string, string>> = {
    GET: next('keys', 'list'),
    POST: next('keys', 'add', '<consumer>', '--why', '"…"'),
  };
  return text.replace(/\b(GET|POST) \/-\/keys\b/g, (match, method: string) => commands[method] ?? match);
}
