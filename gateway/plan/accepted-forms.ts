// The last accepted form of an API: its file, descriptions and guides as the store keeps them, read and checked as of now.
// Certificates and the values of `${…}` come from the disk and the environment of today.
import { resolve } from 'node:path';
import type { PolicyView, Surroundings } from './check/views.ts';
import { type Context, readPolicy } from './load-documents.ts';
import type { ReadPiece } from './pieces.ts';
import { hasErrors } from './problems.ts';
import { isFile, type PublishedEntry, type PublishedFile } from './published-record.ts';

export interface AcceptedForm {
  readonly api: string | undefined;
  /** The policy file as it is recorded, then what it names. */
  readonly files: readonly PublishedFile[];
  /** Undefined if the file is not YAML to this program. */
  readonly view: PolicyView | undefined;
  /** Undefined if this program refuses the form, or this environment does. */
  readonly piece: ReadPiece | undefined;
}

export interface AcceptedForms {
  /** Names of the recorded policy files. */
  readonly names: readonly string[];
  /** As it was recorded; undefined for a name that was not. */
  readonly textOf: (name: string) => string | undefined;
  /** Undefined for a name that was not recorded. Each is read once. */
  readonly read: (name: string) => Promise<AcceptedForm | undefined>;
}

export function createAcceptedForms(
  recorded: readonly PublishedEntry[],
  context: Context,
  around: Surroundings,
): AcceptedForms {
  const files = recorded.filter(isFile);
  const policies = new Map(files.filter(({ kind }) => kind === 'policy').map((file) => [file.name, file]));
  const texts = new Map(files.map(({ name, text }) => [resolve(context.cwd, name), text]));
  const readFile: Context['readFile'] = async (path, mostBytes) => {
    const text = texts.get(path);
    return text === undefined ? context.readFile(path, mostBytes) : new TextEncoder().encode(text);
  };
  const known = new Map<string, Promise<AcceptedForm>>();

  async function readForm(policy: PublishedFile): Promise<AcceptedForm> {
    const bytes = new TextEncoder().encode(policy.text);
    const path = resolve(context.cwd, policy.name);
    const read = await readPolicy({ ...context, readFile }, path, { kind: 'read', bytes }, around);
    const { problems, source, view, files } = read;
    const piece = source && { digest: source.digest, files, file: source.file };
    return { api: view?.parts.api, files, view, piece: hasErrors(problems) ? undefined : piece };
  }

  return {
    names: [...policies.keys()],
    textOf: (name) => policies.get(name)?.text,
    read: async (name) => {
      const policy = policies.get(name);
      if (policy === undefined) return undefined;
      const form = known.get(name) ?? readForm(policy);
      known.set(name, form);
      return form;
    },
  };
}
