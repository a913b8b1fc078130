// `sundial init`: a first policy file from an OpenAPI description, checked before it is written.
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { surroundingsOfView } from '../../plan/check/views.ts';
import { loadAll } from '../../plan/load.ts';
import { contextOf, readGateway } from '../../plan/load-documents.ts';
import { nextCommand } from '../../plan/next-command.ts';
import { readDescription } from '../../plan/openapi/description.ts';
import { MOST_DESCRIPTION_BYTES } from '../../plan/openapi/description-text.ts';
import { type FirstPolicy, firstPolicy } from '../../plan/openapi/first-policy.ts';
import { hasErrors, type Problem, renderProblems } from '../../plan/problems.ts';
import { findFiles, type ReadFile, readCapped, tryRead } from '../../plan/read/files.ts';
import { makeFolder } from '../../system/make-folder.ts';
import { type CommandResult, unusable } from '../command-result.ts';
import type { PrintedFiles } from '../command-setting.ts';

export interface InitOptions extends PrintedFiles {
  readonly from: string;
  /** Undefined: a file where the gateway file looks for policies. */
  readonly out: string | undefined;
}

/** 1 when the description contradicts itself or a policy that is there; 2 when a file cannot be read, or is there already. */
export async function runInit(options: InitOptions): Promise<CommandResult> {
  const context = contextOf(options);
  const { cwd } = context;
  const from = resolve(cwd, options.from);
  const read = await tryRead(from, readCapped, MOST_DESCRIPTION_BYTES);
  if (read.kind === 'unreadable') return unusable(`cannot read ${options.from}: ${read.why}`);
  const description = readDescription(relative(cwd, from), read.bytes);
  if (description.problems.length > 0)
    return { exitCode: 2, text: `${renderProblems(description.problems, options)}Nothing is written.\n` };

  const gateway = await readGateway(context);
  const pattern = gateway.view?.parts.policies;
  const patterns = pattern === undefined ? [] : [resolve(dirname(context.configFile), pattern)];
  const around = surroundingsOfView(gateway.view, options.now);
  const schema = join(dirname(context.configFile), 'schema/policy.schema.json');
  const hasSchema = (await tryRead(schema, readCapped)).kind === 'read';
  const next = nextCommand({ ...options, config: relative(cwd, context.configFile) });
  const draftIn = (folder: string): FirstPolicy =>
    firstPolicy({
      description,
      around,
      descriptionPath: pathFrom(folder, from),
      schemaPath: hasSchema ? pathFrom(folder, schema) : undefined,
      next,
    });
  const out =
    options.out === undefined
      ? join(folderOf(patterns[0]) ?? join(cwd, 'policies'), `${draftIn(cwd).name}.yaml`)
      : resolve(cwd, options.out);
  const shown = relative(cwd, out);
  const there = await tryRead(out, readCapped);
  if (there.kind === 'read') return unusable(`${shown} is there already; name another with --out`);

  const draft = draftIn(dirname(out));
  const problems = await judge(options, { out, text: draft.text, others: (await findFiles(patterns)).files });
  const own = problems.filter(({ file }) => file === shown || file === relative(cwd, from));
  if (hasErrors(own)) return { exitCode: 1, text: `${renderProblems(own, options)}Nothing is written.\n` };
  const refused = await write(out, draft.text);
  if (refused !== undefined) return unusable(`cannot write ${shown}: ${refused}`);
  const isRead = (await findFiles(patterns)).files.includes(out);
  const elsewhere = isRead
    ? ''
    : `No gateway reads it yet: ${options.configFile} does not look for policies there.\n`;
  return {
    exitCode: 0,
    text: `${renderProblems(own, options)}${shown} is written: ${draft.name} ${draft.label}.\n${elsewhere}`,
  };
}

/** What `check` will say of the file, beside the policies that are there. */
async function judge(
  options: InitOptions,
  { out, text, others }: { readonly out: string; readonly text: string; readonly others: readonly string[] },
): Promise<readonly Problem[]> {
  const bytes = new TextEncoder().encode(text);
  const readFile: ReadFile = async (path, most) => (path === out ? bytes : readCapped(path, most));
  const { problems } = await loadAll({ ...options, readFile, policyFiles: [...others, out] });
  return problems;
}

/** The folder of a pattern such as `policies/*.yaml`; undefined for one that would not find a new file there. */
function folderOf(pattern: string | undefined): string | undefined {
  if (pattern === undefined || !/^\*\.ya?ml$/.test(basename(pattern))) return undefined;
  const folder = dirname(pattern);
  return /[*?[\]{}!]/.test(folder) ? undefined : folder;
}

function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** What the system said against it; a file that has come to be there meanwhile stays. */
async function write(path: string, text: string): Promise<string | undefined> {
  try {
    await makeFolder(dirname(path));
    await writeFile(path, text, { flag: 'wx' });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message;
  }
}
