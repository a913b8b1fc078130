// A command to type next, as hints and messages print it: with what was said of which gateway is meant.
import type { Environment } from './read/interpolate.ts';

/** The gateway file that commands read unless told otherwise. */
export const USUAL_CONFIG = 'config/gateway.yaml';
export const CONFIG_VARIABLE = 'SUNDIAL_CONFIG';

export interface Meant {
  /** The gateway file, as it was given. */
  readonly config: string;
  /** The admin listener that was given instead of the one in that file. */
  readonly admin?: string | undefined;
  readonly environment: Environment;
}

/** `sundial <words>`, and `-c` and `--admin` where they are needed again; a word is quoted where a shell would split it. */
export type NextCommand = (...words: readonly string[]) => string;

export function nextCommand({ config, admin, environment }: Meant): NextCommand {
  const reach = [
    ...(config === usualConfig(environment) ? [] : ['-c', config]),
    ...(admin === undefined ? [] : ['--admin', admin]),
  ];
  return (...words) => ['sundial', ...[...words, ...reach].map(asWord)].join(' ');
}

/** A variable that is set to nothing is how many shells and containers leave it out. */
function usualConfig(environment: Environment): string {
  return environment[CONFIG_VARIABLE] || USUAL_CONFIG;
}

/** As one word of a shell command; what stands in angle brackets or is an ellipsis is to be filled in. */
function asWord(text: string): string {
  if (/^(?:[\w.@:/=+,-]+|<[\w ]+>|"…")$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
