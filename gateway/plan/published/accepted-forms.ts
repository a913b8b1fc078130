// The last accepted form of an API: its recorded file, descriptions and guides, read and checked again.
import { resolve } from 'node:path';
import type { CheckContext, PolicyView } from '../../sections/view.ts';
import { type Context, readPolicy } from '../load-documents.ts';
import { hasErrors } from '../problems.ts';
import type { ReadPiece } from '../reload/pieces.ts';
import { isFile, type PublishedEntry, type PublishedFile } from './record.ts';

export interface AcceptedForm {
  /** Name of its policy file when it was accepted. Another file may have that name today. */
  readonly name: string;
  readonly api: string | undefined;
  /** The recorded policy file first, then the files that it names. */
  readonly files: readonly PublishedFile[];
  /** Undefined if this program cannot parse the file as YAML. */
  readonly view: PolicyView | undefined;
  /** Undefined if this program or this environment refuses the form. */
  readonly piece: ReadPiece | undefined;
}

export interface AcceptedForms {
  readonly names: ReadonlySet<string>;
  /** Whether the policy file of a piece is unchanged since it was recorded. */
  readonly includes: (piece: ReadPiece | undefined) => boolean;
  /** The forms whose recorded policy file is in none of `pieces`. Each form is read once. */
  readonly besides: (pieces: readonly ReadPiece[]) => Promise<readonly AcceptedForm[]>;
}

export function createAcceptedForms(
  recorded: readonly PublishedEntry[],
  context: Context,
  checkContext: CheckContext,
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
    const read = await readPolicy({ ...context, readFile }, path, { kind: 'read', bytes }, checkContext);
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

/** Two recorded files may have one name: one API was removed, and another file took its name. */
function identityOf(file: PublishedFile | undefined): string {
  return JSON.stringify([file?.name, file?.text]);
}
