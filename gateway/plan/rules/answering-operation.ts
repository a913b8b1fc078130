// The operation of a version that a request made by a template meets, as far as the file is well formed.
// For the rules about where operations lead; the plan has its own table, of what is whole.
import {
  type OperationTemplate,
  parseOperation,
  spellOperation,
} from '../../policy/lifecycle/operation-template.ts';
import { decodedOctets } from '../../policy/octets.ts';
import { literalReading } from '../../policy/paths/rules.ts';
import type { OperationFile, VersionParts } from '../grammar/policy-grammar.ts';
import { createOperationTable, type OperationTable } from '../operation-table.ts';

export interface WrittenOperation {
  /** As written, for a path into the file. */
  readonly key: string;
  readonly name: string;
  readonly template: OperationTemplate;
  readonly rules: OperationFile;
}

type Operations = NonNullable<VersionParts['operations']>;

/** Of two that answer the same requests the first: that has been said. */
export function answering(
  operations: Operations | undefined,
  template: OperationTemplate,
): WrittenOperation | undefined {
  if (operations === undefined) return undefined;
  const table = tables.get(operations) ?? tableOf(operations);
  tables.set(operations, table);
  return table.match(template.method, tailOf(template))?.rules;
}

const tables = new WeakMap<Operations, OperationTable<WrittenOperation>>();

function tableOf(operations: Operations): OperationTable<WrittenOperation> {
  const rows = new Map<string, { readonly template: OperationTemplate; readonly rules: WrittenOperation }>();
  for (const [key, rules] of Object.entries(operations)) {
    const parsed = parseOperation(key);
    if (parsed.kind === 'malformed') continue;
    const { template } = parsed;
    const names = literalReading(tailOf(template)).segments.map(decodedOctets);
    const requests = JSON.stringify([template.method, ...names]);
    const written = { key, name: spellOperation(template), template, rules };
    if (!rows.has(requests)) rows.set(requests, { template, rules: written });
  }
  return createOperationTable([...rows.values()]);
}

/** No word of a path is an empty pair of braces, so that a parameter meets parameters only. */
export function tailOf({ segments }: OperationTemplate): string {
  return segments.map((segment) => (segment.kind === 'literal' ? segment.text : '{}')).join('/');
}
