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
  if (scopes.length === 0) throw new InvalidArgumentError('It names no scope.');
  return scopes;
}

export function addKeyCommands(program: Command, setting: Pick<CommandSetting, 'openGateway' | 'end'>): void {
  const keys = withCalls(program.command('keys'), CALLS).description(
    'the API keys with which consumers call: make, list, rotate and revoke them',
  );
  const part = (name: string, description: string) =>
    withGateway(keys.command(name).description(description)).addOption(
      new Option('--json', 'print as JSON').conflicts('format'),
    );
  const change = (name: string, description: string) => withAuthor(part(name, description));

  onGateway(part('list', 'every key there is, by its public part; no secret'), setting, () =>
    call({
      request: { method: 'GET', path: '/-/keys' },
      read: readKeysAnswer,
      render: keysText,
      inCommandWords,
    }),
  );
  const add = change('add', 'make a key; it is printed once, and kept nowhere')
    .argument('<consumer>', 'the consumer that calls with it', readName)
    .addOption(
      new Option('--scope <scopes>', 'scopes it has, separated by commas or blanks; may be written again')
        .argParser((text: string, before: readonly string[]) => [...before, ...readScopes(text)])
        .default([], 'none'),
    )
    .option('--contact <mail>', 'mail address for messages about this key')
    .addOption(
      new Option('--expires <date>', 'the day or instant at which it ends by itself').argParser(
        readInstantText,
      ),
    );
  onGateway(add, setting, (consumer: string, { scope: scopes, contact, expires, ...author }: AddOptions) => {
    const body = { consumer, scopes, contact, expires, ...authorOf(keys, author) };
    return newKey({ method: 'POST', path: '/-/keys', body });
  });
  const rotate = change('rotate', 'give a key another secret; the one before works on for a while')
    .argument('<id>', 'the public part of the key', readName)
    .addOption(
      new Option('--overlap <duration>', 'how long the secret before works on; default 1d').argParser(
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
