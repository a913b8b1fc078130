// Whether a maintenance that a policy file speaks of is still to end: one that has does nothing, and tells readers wrong.
// Part of the cross checks of one policy file.
import type { EpochMs } from '../../policy/contract.ts';
import type { Maintenance } from '../../policy/maintenance/maintenance.ts';
import { dateInWords } from '../../policy/notation.ts';
import type { Path } from '../read/document.ts';
import type { PolicyView, Report } from './views.ts';

export function checkMaintenance({ parts, versions }: PolicyView, now: EpochMs, report: Report): void {
  const ofAll = parts.maintenance;
  const look = (at: Path, maintenance: Maintenance | null | undefined): void => {
    if (!maintenance || now < maintenance.until) return;
    report([...at, 'maintenance'], {
      rule: 'maintenance',
      severity: 'warning',
      message: `this maintenance ended at ${dateInWords(maintenance.until)}`,
      hint: 'take the line out, or write when it will end',
      at: 'key',
    });
  };
  look([], ofAll);
  for (const [label, version] of versions) {
    // What is taken over from the API is said of the API, once.
    if (version.maintenance?.until !== ofAll?.until) look(['versions', label], version.maintenance);
    for (const [name, operation] of Object.entries(version.operations ?? {}))
      look(['versions', label, 'operations', name], operation.maintenance);
  }
}
