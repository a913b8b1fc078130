// What the description of a version tells its callers, in terms of the policy: days as instants, operations by the names
// they have there. The policy has no words for it, so that there is nothing to compare.
import { sameRequests, spellOperation } from '../../policy/lifecycle/operation-template.ts';
import { parseInstant } from '../../policy/notation.ts';
import type { OperationNotes, VersionNotes } from '../version-notes.ts';
import { policyOperations } from './merge-operations.ts';
import type { Merging } from './merging.ts';

export function notesOf(merging: Merging): VersionNotes {
  const { level, until, changelog } = merging.description.api.notes;
  const supportEnd = instantOf(until);
  const support = {
    ...(level !== undefined && { level }),
    ...(supportEnd !== undefined && { until: supportEnd }),
  };
  return {
    ...(Object.keys(support).length > 0 && { support }),
    ...(changelog !== undefined && { changelog }),
    operations: operationNotes(merging),
  };
}

/** With and without a slash at its end a path is one operation: the first that is described counts. */
function operationNotes(merging: Merging): readonly OperationNotes[] {
  const policy = policyOperations(merging);
  const notes = new Map<string, OperationNotes>();
  for (const { said, placed } of merging.placement.operations) {
    if (placed.kind !== 'operation') continue;
    const { template } = placed;
    const own = policy.find((each) => sameRequests(each.template, template))?.template;
    const operation = spellOperation(own ?? template);
    const introduced = instantOf(said.introduced?.value);
    const { breakingChanges } = said;
    if (notes.has(operation) || (introduced === undefined && breakingChanges.length === 0)) continue;
    notes.set(operation, { operation, ...(introduced !== undefined && { introduced }), breakingChanges });
  }
  return [...notes.values()];
}

function instantOf(day: string | undefined): number | undefined {
  return day === undefined ? undefined : parseInstant(day);
}
