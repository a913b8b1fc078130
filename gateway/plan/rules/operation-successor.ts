// operation-successor: the operation that another leads to has not ended by the time that one does.
// RET-4: the gateway sends nobody to what answers 410, so that a redirect there is no redirect.
import type { EpochMs } from '../../policy/contract.ts';
import {
  type OperationTemplate,
  parseOperation,
  spellOperation,
} from '../../policy/lifecycle/operation-template.ts';
import { dayOf } from '../../policy/notation.ts';
import type { OperationFile, VersionParts } from '../grammar/policy-grammar.ts';
import { createOperationTable, type OperationTable } from '../operation-table.ts';
import { effectiveSunset, redirectOf } from '../redirects.ts';
import { dayFrom } from './calendar.ts';
import type { Rule } from './subject.ts';

/** What has an end of its own; others end with their version, which is checked where they lead to another. */
interface Ending {
  readonly name: string;
  readonly sunset: EpochMs | undefined;
}

export const operationSuccessor: Rule = ({ label, version, at, view }, report) => {
  for (const [name, operation] of Object.entries(version.operations ?? {})) {
    const { successor } = operation;
    const parsed = parseOperation(name);
    if (successor === undefined || parsed.kind === 'malformed') continue;
    const to = successor.label ?? label;
    const { operations } = to === label ? version : (view.versions.get(to) ?? {});
    const there = answering(operations, successor.template ?? parsed.template);
    const ends = operation.sunset ?? effectiveSunset(version);
    if (there?.sunset === undefined || ends === undefined || there.sunset > ends) continue;
    if (to === label && there.name === spellOperation(parsed.template)) continue;
    report([...at, 'operations', name, 'successor'], {
      rule: 'operation-successor',
      severity: isRedirected(operation, version, to) ? 'error' : 'warning',
      message: `${name} ends on ${dayOf(ends)}, and ${to === label ? '' : `${to} `}${there.name} has ended by then`,
      hint: `sunset of ${there.name} ${dayFrom(ends + 1)} or later`,
    });
  }
};

/** An operation without an end of its own goes where its version does, to the successor it names (LNK-2). */
function isRedirected({ after, sunset }: OperationFile, version: VersionParts, to: string): boolean {
  return after === 'redirect' || (after === undefined && sunset === undefined && redirectOf(version) === to);
}

/** The operation that a request made by a template meets. */
function answering(
  operations: NonNullable<VersionParts['operations']> | undefined,
  template: OperationTemplate,
): Ending | undefined {
  if (operations === undefined) return undefined;
  const table = tables.get(operations) ?? tableOf(operations);
  tables.set(operations, table);
  return table.match(template.method, tailOf(template))?.rules;
}

const tables = new WeakMap<NonNullable<VersionParts['operations']>, OperationTable<Ending>>();

/** Of two that answer the same requests the first: that has been said. */
function tableOf(operations: NonNullable<VersionParts['operations']>): OperationTable<Ending> {
  const rows = new Map<string, { readonly template: OperationTemplate; readonly rules: Ending }>();
  for (const [text, { sunset }] of Object.entries(operations)) {
    const parsed = parseOperation(text);
    if (parsed.kind === 'malformed') continue;
    const { template } = parsed;
    const key = `${template.method} ${tailOf(template)}`;
    if (!rows.has(key)) rows.set(key, { template, rules: { name: spellOperation(template), sunset } });
  }
  return createOperationTable([...rows.values()]);
}

/** No word of a path is an empty pair of braces, so that a parameter meets parameters only. */
function tailOf({ segments }: OperationTemplate): string {
  return segments.map((segment) => (segment.kind === 'literal' ? segment.text : '{}')).join('/');
}
