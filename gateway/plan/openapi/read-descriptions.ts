// Reads the descriptions that the versions of a policy name and merges them into its document.
import { dirname, resolve } from 'node:path';
import type { EpochMs } from '../../policy/contract.ts';
import { parseDescriptionPath } from '../../sections/openapi/grammar.ts';
import type { NextCommand } from '../next-command.ts';
import type { Problem } from '../problems.ts';
import type { PublishedFile } from '../published/record.ts';
import type { SourceDocument } from '../read/document.ts';
import { digest, type FileRead, type ReadFile, tryRead } from '../read/files.ts';
import { LEAVES_FOLDER, leavesItsFolder, WRITE_ITS_TARGET } from '../read/links.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { VersionNotes } from '../version-notes.ts';
import { withAddedValues } from './added-values.ts';
import { type Description, readDescription } from './description.ts';
import { MAX_DESCRIPTION_BYTES } from './description-text.ts';
import { mergeDescription } from './merge.ts';
import type { DescriptionFinding } from './merge-input.ts';

/** Descriptions by path, kept between reloads: parsing a large one takes a second. */
export type DescriptionCache = Map<string, { readonly digest: string; readonly description: Description }>;

export interface DescriptionReading {
  readonly readFile: ReadFile;
  readonly shown: (file: string) => string;
  readonly cache: DescriptionCache;
  readonly next: NextCommand;
  readonly now: EpochMs;
}

export interface DescribedPolicy {
  readonly document: SourceDocument;
  readonly problems: readonly Problem[];
  readonly findings: readonly DescriptionFinding[];
  /** Published facts of the descriptions, by version. */
  readonly notes: Readonly<Record<string, VersionNotes>>;
  /** By version: whether its description allows a form in a POST. */
  readonly forms: Readonly<Record<string, boolean>>;
  /** The readable descriptions by their printed names. Part of the revision. */
  readonly texts: readonly PublishedFile[];
  /** Absolute paths of the descriptions, readable or not. */
  readonly files: readonly string[];
}

const FORM = /^(?:\*\/\*|application\/(?:\*|x-www-form-urlencoded)|multipart\/(?:\*|form-data))\s*(?:;|$)/i;

/** `file` is the absolute path of the policy. Does not throw: an unreadable description is a problem at its line. */
export async function readDescriptions(
  file: string,
  document: SourceDocument,
  reading: DescriptionReading,
): Promise<DescribedPolicy> {
  let merged = document;
  const problems: Problem[] = [];
  const findings: DescriptionFinding[] = [];
  const notes: Record<string, VersionNotes> = Object.create(null);
  const forms: Record<string, boolean> = Object.create(null);
  const texts: PublishedFile[] = [];
  const files: string[] = [];
  for (const label of keysOf(valueAt(document.value, ['versions']))) {
    const at = ['versions', label, 'openapi'];
    const path = valueAt(document.value, at);
    if (typeof path !== 'string' || parseDescriptionPath(path) === undefined) continue;
    const target = resolve(dirname(file), path);
    files.push(target);
    const refuse = (message: string, hint: string) =>
      problems.push(document.problem(at, { rule: 'openapi', message, hint }));
    if (leavesItsFolder(file, path)) {
      refuse(`the description is ${LEAVES_FOLDER}`, WRITE_ITS_TARGET);
      continue;
    }
    const read = await tryRead(target, reading.readFile, MAX_DESCRIPTION_BYTES);
    if (read.kind === 'unreadable') {
      refuse(`cannot read the description: ${read.why}`, 'its path is relative to this file');
      continue;
    }
    const description = cached(target, read, reading);
    const found = mergeDescription(document, label, description, reading);
    merged = withAddedValues(merged, found.added);
    problems.push(...description.problems);
    findings.push(...found.findings);
    if (found.notes !== undefined) notes[label] = found.notes;
    forms[label] = takesForms(description);
    const text = new TextDecoder().decode(read.bytes);
    texts.push({ kind: 'description', name: reading.shown(target), text });
  }
  return { document: merged, problems, findings, notes, forms, texts, files };
}

function cached(
  path: string,
  { bytes }: Extract<FileRead, { kind: 'read' }>,
  { cache, shown }: DescriptionReading,
): Description {
  const name = digest([bytes]);
  const known = cache.get(path);
  if (known?.digest === name) return known.description;
  const description = readDescription(shown(path), bytes);
  cache.set(path, { digest: name, description });
  return description;
}

/** Whether a POST may have a form as body. Some services look for `_method` in it. */
function takesForms({ source, operations }: Description): boolean {
  return operations.some(
    ({ method, node }) =>
      method === 'POST' &&
      source.pairsOf(source.at(node, 'requestBody', 'content')).some(({ key }) => FORM.test(key)),
  );
}
