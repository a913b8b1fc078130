// Builds the commands that hints and messages suggest, with the `-c` and `--admin` of the current call.
import type { Environment } from './read/interpolate.ts';

export const DEFAULT_CONFIG = 'config/gateway.yaml';
export const CONFIG_VARIABLE = 'SUNDIAL_CONFIG';

export interface CommandContext {
  readonly config: string;
  readonly admin?: string | undefined;
  readonly environment: Environment;
}

/** `sundial <words>`, with `npx` if it was started so, with `-c` and `--admin` if they differ from the defaults, quoted for a shell. */
export type NextCommand = (...words: readonly string[]) => string;

export function nextCommand({ config, admin, environment }: CommandContext): NextCommand {
  const reach = [
    ...(config === defaultConfig(environment) ? [] : ['-c', config]),
    ...(admin === undefined ? [] : ['--admin', admin]),
  ];
  // npm sets it to `exec` for npx. The command is then not on the PATH of the shell.
  const start = environment.npm_command === 'exec' ? ['npx', 'sundial'] : ['sundial'];
  return (...words) => [...start, ...[...words, ...reach].map(asWord)].join(' ');
}

/** Many shells and containers set an empty variable to leave it out. */
function defaultConfig(environment: Environment): string {
  return environment[CONFIG_VARIABLE] || DEFAULT_CONFIG;
}

/** Quotes `text` for a shell. Placeholders in angle brackets and ellipses stay unquoted. */
function asWord(text: string): string {
  if (/^(?:[\w.@:/=+,-]+|<[\w ]+>|"…")$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
