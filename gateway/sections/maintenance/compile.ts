// Compiles the maintenance of a version and of an operation.
import type { VersionRules } from '../../plan/plan.ts';
import type { OperationInput, VersionInput } from '../section.ts';

type Compiled = Pick<VersionRules, 'maintenance'>;

/** `version` already contains values inherited from the API. */
export function maintenanceOfVersion({ version }: VersionInput): Compiled {
  return { maintenance: version.maintenance };
}

export function maintenanceOfOperation({ operation, rules }: OperationInput): Compiled {
  const { maintenance } = operation;
  // null: `maintenance: off`, which ends the inheritance.
  return { maintenance: maintenance === undefined ? rules.maintenance : (maintenance ?? undefined) };
}
