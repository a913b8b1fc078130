// Merges a version of a policy with its description: values to add, and findings where they disagree.
import type { Node } from 'yaml';
import { formatOperation, sameRequests } from '../../policy/lifecycle/operation-template.ts';
import { parseInstant } from '../../policy/notation.ts';
import type { SourceDocument } from '../read/document.ts';
import type { OperationNotes, VersionNotes } from '../version-notes.ts';
import type { AddedValue } from './added-values.ts';
import type { Description } from './description.ts';
import { type Mark, markOf, textOf } from './description-text.ts';
import {
  type DescriptionFinding,
  type MergedDescription,
  type MergeInput,
  policyText,
} from './merge-input.ts';
import { mergeOperations, policyOperations } from './merge-operations.ts';
import { mergeVersion } from './merge-version.ts';
import { placeIn } from './placement.ts';

/** Schema of each header, as a hint. */
const HEADER_SCHEMAS: Readonly<Record<string, string>> = {
  deprecation: 'schema: { type: string, pattern: "^@-?[0-9]+$" }, such as @1768435200 (RFC 9745)',
  sunset: 'schema: { type: string }, such as Fri, 15 Jan 2027 00:00:00 GMT (RFC 8594)',
};

/** Adds nothing from a description with problems: they are reported, and no plan is built. */
export function mergeDescription(
  document: SourceDocument,
  label: string,
  description: Description,
  { next, now }: Pick<MergeInput, 'next' | 'now'>,
): MergedDescription {
  if (description.problems.length > 0) return { added: [], findings: [], notes: undefined };
  const { source } = description;
  const added: AddedValue[] = [];
  const findings: DescriptionFinding[] = [];
  const atDescription = (mark: Mark, finding: DescriptionFinding['finding']) =>
    findings.push({ finding, place: (switched) => source.problem(mark, switched) });
  for (const { mark, finding } of description.findings) atDescription(mark, finding);
  const input: MergeInput = {
    document,
    description,
    placement: placeIn(document.value, label, description),
    at: ['versions', label],
    add: (at, { value, mark }) => added.push({ at, value, source, mark }),
    atPolicy: (path, finding) =>
      findings.push({ finding, place: (switched) => document.problem(path, { ...finding, ...switched }) }),
    atDescription,
    next,
    now,
  };
  mergeVersion(input);
  mergeOperations(input);
  checkHeaders(input);
  return { added, findings, notes: notesOf(input) };
}

/** OAS-3: clients generated from a wrong schema cannot parse the headers. */
function checkHeaders(input: MergeInput): void {
  const { description, atDescription } = input;
  const { source } = description;
  const form = policyText(input, ['deprecation_header']) ?? 'rfc9745';
  for (const headers of headerMaps(input)) {
    for (const { key, value } of source.pairsOf(headers)) {
      const hint = HEADER_SCHEMAS[key.toLowerCase()];
      if (hint === undefined || (key.toLowerCase() === 'deprecation' && form !== 'rfc9745')) continue;
      const type = source.at(value, 'schema', 'type');
      const format = source.at(value, 'schema', 'format');
      const isText = (textOf(type) ?? 'string') === 'string';
      const wrong = isText ? format : type;
      const word = textOf(wrong);
      if (wrong === undefined || word === undefined) continue;
      const message = `${key} is sent as text, and is described as ${isText ? `the format ${word}` : word}`;
      atDescription(markOf(wrong), { rule: 'description-headers', message, hint });
    }
  }
}

function headerMaps({ description }: MergeInput): readonly (Node | undefined)[] {
  const { source, operations } = description;
  const components = source.at(source.root, 'components');
  const answers = [components, ...operations.map(({ node }) => node)].flatMap((map) =>
    source.pairsOf(source.at(map, 'responses')),
  );
  return [source.at(components, 'headers'), ...answers.map(({ value }) => source.at(value, 'headers'))];
}

/** Facts without a key in the policy, so there is nothing to compare. */
function notesOf(input: MergeInput): VersionNotes {
  const { level, until, changelog } = input.description.api.notes;
  const supportEnd = instantOf(until);
  const support = {
    ...(level !== undefined && { level }),
    ...(supportEnd !== undefined && { until: supportEnd }),
  };
  return {
    ...(Object.keys(support).length > 0 && { support }),
    ...(changelog !== undefined && { changelog }),
    operations: operationNotes(input),
  };
}

/** Paths with and without a trailing slash are one operation. The first described one counts. */
function operationNotes(input: MergeInput): readonly OperationNotes[] {
  const policy = policyOperations(input);
  const notes = new Map<string, OperationNotes>();
  for (const { stated, placed } of input.placement.operations) {
    if (placed.kind !== 'operation') continue;
    const { template } = placed;
    const own = policy.find((each) => sameRequests(each.template, template))?.template;
    const operation = formatOperation(own ?? template);
    const introduced = instantOf(stated.introduced?.value);
    const { breakingChanges } = stated;
    if (notes.has(operation) || (introduced === undefined && breakingChanges.length === 0)) continue;
    notes.set(operation, { operation, ...(introduced !== undefined && { introduced }), breakingChanges });
  }
  return [...notes.values()];
}

function instantOf(day: string | undefined): number | undefined {
  return day === undefined ? undefined : parseInstant(day);
}
