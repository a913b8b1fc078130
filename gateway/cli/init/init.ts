// `sundial init`: writes a first policy file for a service, and a gateway file if there is none, after checking them.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { checkContextOfView } from '../../plan/check/views.ts';
import { loadAll } from '../../plan/load.ts';
import { contextOf, readGateway } from '../../plan/load-documents.ts';
import { type NextCommand, nextCommand } from '../../plan/next-command.ts';
import { type Description, readDescription } from '../../plan/openapi/description.ts';
import { MAX_DESCRIPTION_BYTES } from '../../plan/openapi/description-text.ts';
import { type FirstPolicy, firstPolicy } from '../../plan/openapi/first-policy.ts';
import { hasErrors, renderProblems } from '../../plan/problems.ts';
import { findFiles, type ReadFile, readCapped, tryRead } from '../../plan/read/files.ts';
import { makeFolder } from '../../system/make-folder.ts';
import { type CommandResult, unusable } from '../command-result.ts';
import type { PrintedFiles } from '../command-setting.ts';

export interface InitOptions extends PrintedFiles {
  /** Origin of the service. Undefined: taken from the description. */
  readonly service: string | undefined;
  /** The OpenAPI description. `service` or `from` is always given. */
  readonly from: string | undefined;
  /** Undefined: a file where the gateway file looks for policies. */
  readonly out: string | undefined;
}

/** Exit code 1 if the description contradicts itself or a policy. 2 if a file is unreadable or exists already. */
export async function runInit(options: InitOptions): Promise<CommandResult> {
  const { cwd, configFile } = contextOf(options);
  const from = resolve(cwd, options.from ?? '');
  let description: Description | undefined;
  if (options.from !== undefined) {
    const read = await tryRead(from, readCapped, MAX_DESCRIPTION_BYTES);
    if (read.kind === 'unreadable') return unusable(`cannot read ${options.from}: ${read.why}`);
    description = readDescription(relative(cwd, from), read.bytes);
    if (description.problems.length > 0)
      return { exitCode: 2, text: `${renderProblems(description.problems, options)}Nothing is written.\n` };
  }

  const config = relative(cwd, configFile);
  const next = nextCommand({ ...options, config });
  const drafts = new Map<string, string>();
  const needsGateway = options.service !== undefined && !existsSync(configFile);
  if (needsGateway) drafts.set(configFile, firstGateway(configFile, next));
  const gateway = await readGateway(contextOf({ ...options, readFile: readDrafted(drafts) }));
  const pattern = gateway.view?.parts.policies;
  const patterns = pattern === undefined ? [] : [resolve(dirname(configFile), pattern)];
  const checkContext = checkContextOfView(gateway.view, options.now);
  const schema = join(dirname(configFile), 'schema/policy.schema.json');
  const hasSchema = (await tryRead(schema, readCapped)).kind === 'read';
  const draftIn = (folder: string): FirstPolicy =>
    firstPolicy({
      description,
      service: options.service,
      checkContext,
      descriptionPath: pathFrom(folder, from),
      schemaPath: hasSchema ? pathFrom(folder, schema) : undefined,
      next,
    });
  const out =
    options.out === undefined
      ? join(folderOf(patterns[0]) ?? join(cwd, 'policies'), `${draftIn(cwd).name}.yaml`)
      : resolve(cwd, options.out);
  const shown = relative(cwd, out);
  if (existsSync(out)) return unusable(`${shown} is there already; name another with --out`);

  const draft = draftIn(dirname(out));
  drafts.set(out, draft.text);
  const policyFiles = [...(await findFiles(patterns)).files, out];
  const { problems } = await loadAll({ ...options, readFile: readDrafted(drafts), policyFiles });
  const ours = [shown, relative(cwd, from), ...(needsGateway ? [config] : [])];
  const own = problems.filter(({ file }) => ours.includes(file));
  if (hasErrors(own)) return { exitCode: 1, text: `${renderProblems(own, options)}Nothing is written.\n` };
  for (const [path, text] of drafts) {
    const refused = await write(path, text);
    if (refused !== undefined) return unusable(`cannot write ${relative(cwd, path)}: ${refused}`);
  }
  const isRead = (await findFiles(patterns)).files.includes(out);
  const elsewhere = isRead
    ? ''
    : `No gateway reads it yet: ${options.configFile} does not look for policies there.\n`;
  const gatewayFile = needsGateway
    ? `${config} is written. Start the gateway with \`${next('run')}\`.\n`
    : '';
  return {
    exitCode: 0,
    text: `${renderProblems(own, options)}${shown} is written: ${draft.name} ${draft.label}.\n${gatewayFile}${elsewhere}`,
  };
}

/** Reads files that are not written yet, and all others from disk. */
function readDrafted(drafts: ReadonlyMap<string, string>): ReadFile {
  return async (path, most) => {
    const draft = drafts.get(path);
    return draft === undefined ? readCapped(path, most) : new TextEncoder().encode(draft);
  };
}

function firstGateway(configFile: string, next: NextCommand): string {
  const policies = basename(dirname(configFile)) === 'config' ? '../policies' : 'policies';
  return `# How the gateway runs: \`${next('check')}\` checks this file and the policies, a restart takes changes of this file.
public: https://127.0.0.1:8443 # what clients call, for example https://api.example.com

listeners:
  https: { address: "127.0.0.1:8443" } # ":8443" for all interfaces; without tls: { certificates: […] } the gateway makes a self-signed one
  admin: { address: "127.0.0.1:9901" } # dashboard, metrics, and the commands that talk to the running gateway

data: data # what the gateway makes: certificate, token of the admin API, database; relative to where it is started
policies: ${policies}/*.yaml # one file for each API, relative to this file; a change is read at once
`;
}

/** The folder of a pattern such as `policies/*.yaml`. Undefined if the pattern would not match a new file there. */
function folderOf(pattern: string | undefined): string | undefined {
  if (pattern === undefined || !/^\*\.ya?ml$/.test(basename(pattern))) return undefined;
  const folder = dirname(pattern);
  return /[*?[\]{}!]/.test(folder) ? undefined : folder;
}

function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** The reason of a failure, or undefined. Never overwrites a file. */
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
