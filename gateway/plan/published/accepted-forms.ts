// The last accepted form of an API: its file, descriptions and guides as the store keeps them, read and checked as of now.
import { resolve } from 'node:path';
import type { CheckContext, PolicyView } from '../../sections/view.ts';
import { type Context, readPolicy } from '../load-documents.ts';
import { hasErrors } from '../problems.ts';
import type { ReadPiece } from '../reload/pieces.ts';
import { isFile, type PublishedEntry, type PublishedFile } from './record.ts';

export interface AcceptedForm {
  /** Of its policy file, as it was accepted; another file may have that name today. */
  readonly name: string;
  /** Undefined if it cannot be read. */
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
  readonly names: ReadonlySet<string>;
  /** Whether a piece is of a policy file as it was recorded. */
  readonly includes: (piece: ReadPiece | undefined) => boolean;
  /** The forms whose recorded policy file is in none of `pieces`. Each form is read once. */
  readonly besides: (pieces: readonly ReadPiece[]) => Promise<readonly AcceptedForm[]>;
}

export function createAcceptedForms(
  recorded: readonly PublishedEntry[],
  context: Context,
  around: CheckContext,
): AcceptedForms {
  const files = recorded.filter(isFile);
  const policies = new Map(
    files.filter(({ kind }) => kind === 'policy').map((file) => [identityOf(file), file]),
  );
  const texts = new Map(files.map(({ name, text }) => [resolve(context.cwd, name), text]));
  const readFile: Context['readFile'] = async (path, mostBytes) => {
    const text = texts.get(path);
    return text === undefined ? context.readFile(path, mostBytes) : new TextEncoder().encode(text);
  };
  const known = new Map<PublishedFile, Promise<AcceptedForm>>();

  async function readForm(policy: PublishedFile): Promise<AcceptedForm> {
    const bytes = new TextEncoder().encode(policy.text);
    const path = resolve(context.cwd, policy.name);
    const read = await readPolicy({ ...context, readFile }, path, { kind: 'read', bytes }, around);
    const { problems, source, view, files } = read;
    const piece = source && { digest: source.digest, files, file: source.file };
    const sound = hasErrors(problems) ? undefined : piece;
    return { name: policy.name, api: view?.parts.api, files, view, piece: sound };
  }

  return {
    names: new Set([...policies.values()].map(({ name }) => name)),
    includes: (piece) => policies.has(identityOf(piece?.files[0])),
    besides: async (pieces) => {
      const same = new Set(pieces.map((piece) => identityOf(piece.files[0])));
      const forms: AcceptedForm[] = [];
      for (const [identity, policy] of policies) {
        if (same.has(identity)) continue;
        const form = known.get(policy) ?? readForm(policy);
        known.set(policy, form);
        forms.push(await form);
      }
      return forms;
    },
  };
}

/** A recorded file may have the name of another: its API is in no file any more, and its name has passed on. */
function identityOf(file: PublishedFile | undefined): string {
  return JSON.stringify([file?.name, file?.text]);
}
