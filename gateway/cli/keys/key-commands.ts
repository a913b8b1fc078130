// The commands about API keys: `keys list`, `keys add`, `keys rotate` and `keys revoke`, with their options.
// Added to the program of program.ts; what they do is given by main.ts.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommandSetting, readInstantText, type Said, withCalls } from '../command-setting.ts';
import {
  type Authored,
  addReach,
  authored,
  by,
  type Reach,
  reachOf,
  readDuration,
  readName,
  why,
} from '../operator-commands.ts';
import type { KeysAsk, KeysOptions } from './keys.ts';

export interface KeyActions {
  readonly keys: (options: Said<KeysOptions>) => Promise<number>;
}

interface Written extends Reach {
  /** The same as `--format json`. */
  readonly json?: true;
}

interface ChangeWritten extends Written, Authored {}

interface AddWritten extends ChangeWritten {
  readonly scope: readonly string[];
  readonly contact?: string;
  readonly expires?: string;
}

/** A comma or a blank never belongs to a scope here, as in the lists that people copy from. */
function readScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  if (scopes.length === 0) throw new InvalidArgumentError('It names no scope.');
  return scopes;
}

export function addKeyCommands(program: Command, { actions, config, end }: CommandSetting<KeyActions>): void {
  const keys = withCalls(program.command('keys'), 'keys').description(
    'the API keys with which consumers call: make, list, rotate and revoke them',
  );
  const part = (name: string, description: string) =>
    addReach(keys.command(name).description(description), config).addOption(
      new Option('--json', 'print as JSON').conflicts('format'),
    );
  const change = (name: string, description: string) =>
    part(name, description).addOption(why().makeOptionMandatory()).addOption(by());
  const run = async (written: Written, ask: KeysAsk) => {
    const reach = reachOf(written);
    end(await actions.keys({ ...reach, format: written.json ? 'json' : reach.format, ask }));
  };

  part('list', 'every key there is, by its public part; no secret').action((written: Written) =>
    run(written, { kind: 'list' }),
  );
  change('add', 'make a key; it is printed once, and kept nowhere')
    .argument('<consumer>', 'the consumer that calls with it', readName)
    .addOption(
      new Option('--scope <scopes>', 'scopes it has, separated by commas or blanks; may be written again')
        .argParser((text: string, before: readonly string[]) => [...before, ...readScopes(text)])
        .default([], 'none'),
    )
    .option('--contact <mail>', 'whom to write to about it')
    .addOption(
      new Option('--expires <date>', 'the day or instant at which it ends by itself').argParser(
        readInstantText,
      ),
    )
    .action((consumer: string, written: AddWritten) => {
      const { scope: scopes, contact, expires } = written;
      return run(written, { kind: 'add', consumer, scopes, contact, expires, ...authored(keys, written) });
    });
  change('rotate', 'give a key another secret; the one before works on for a while')
    .argument('<id>', 'the public part of the key', readName)
    .addOption(
      new Option('--overlap <duration>', 'how long the secret before works on; default 1d').argParser(
        readDuration,
      ),
    )
    .action((id: string, written: ChangeWritten & { readonly overlap?: string }) =>
      run(written, { kind: 'rotate', id, overlap: written.overlap, ...authored(keys, written) }),
    );
  change('revoke', 'end a key at once, on every gateway')
    .argument('<id>', 'the public part of the key', readName)
    .action((id: string, written: ChangeWritten) =>
      run(written, { kind: 'revoke', id, ...authored(keys, written) }),
    );
}
