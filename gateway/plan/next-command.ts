// Builds the commands that hints and messages suggest, with the `-c` and `--admin` of the current call.
import type { Environment } from './read/interpolate.ts';

/** The default of `-c`. */
export const USUAL_CONFIG = 'config/gateway.yaml';
export const CONFIG_VARIABLE = 'SUNDIAL_CONFIG';

export interface Meant {
  readonly config: string;
  readonly admin?: string | undefined;
  readonly environment: Environment;
}

/** `sundial <words>`, with `-c` and `--admin` if they differ from the defaults, quoted for a shell. */
export type NextCommand = (...words: readonly string[]) => string;

export function nextCommand({ config, admin, environment }: Meant): NextCommand {
  const reach = [
    ...(config === usualConfig(environment) ? [] : ['-c', config]),
    ...(admin === undefined ? [] : ['--admin', admin]),
  ];
  return (...words) => ['sundial', ...[...words, ...reach].map(asWord)].join(' ');
}

/** Many shells and containers set an empty variable to leave it out. */
function usualConfig(environment: Environment): string {
  return environment[CONFIG_VARIABLE] || USUAL_CONFIG;
}

/** Quotes `text` for a shell. Placeholders in angle brackets and ellipses stay unquoted. */
function asWord(text: string): string {
  if (/^(?:[\w.@:/=+,-]+|<[\w ]+>|"…")$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
