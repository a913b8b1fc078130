// Problems for unreadable files and for patterns without a match.
import { dirname, relative, resolve } from 'node:path';
import { CONFIG_VARIABLE } from '../next-command.ts';
import type { Problem } from '../problems.ts';
import type { SourceDocument } from './document.ts';
import { A_FOLDER, NO_FILE } from './files.ts';

/** `file` as printed. `cwd` only for the gateway file, whose path depends on it. */
export function unreadable(file: string, why: string, cwd: string | undefined): Problem {
  const hint = cwd === undefined ? ofPolicy(file, why) : ofGateway(cwd, why);
  return {
    file,
    line: 1,
    column: 1,
    severity: 'error',
    rule: 'unreadable',
    message: `cannot read: ${why}`,
    ...(hint !== undefined && { hint }),
  };
}

function ofGateway(cwd: string, why: string): string | undefined {
  if (why === A_FOLDER) return 'name the gateway file in it, such as gateway.yaml';
  return why === NO_FILE
    ? `this is ${cwd}: change to the folder of the project, name the file with -c or ${CONFIG_VARIABLE}, ` +
        'or write a first one with `sundial init --service <url>`'
    : undefined;
}

function ofPolicy(file: string, why: string): string | undefined {
  return why === A_FOLDER ? `name the files in it: ${file}/*.yaml` : undefined;
}

/** The hint names the searched path. `why`: the reason if it could not be searched. */
export function nothingMatched(
  { configFile, cwd }: { readonly configFile: string; readonly cwd: string },
  gateway: SourceDocument,
  why: string | undefined,
): Problem {
  const path = ['policies'];
  const pattern = gateway.isSecret(path) ? undefined : gateway.written(path);
  const looked = pattern && relative(cwd, resolve(dirname(configFile), pattern));
  const hint = looked && `searched ${looked}; a pattern is relative to this file`;
  const message =
    why === undefined ? 'no policy file matches this pattern' : `cannot find policy files: ${why}`;
  return gateway.problem(path, { rule: 'policies', message, hint });
}
