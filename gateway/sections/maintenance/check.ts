// Checks `maintenance`: warns after its end.
import type { Path } from '../../plan/read/document.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Maintenance } from '../../policy/maintenance/maintenance.ts';
import { dateInWords } from '../../policy/notation.ts';
import type { CheckContext, PolicyView, Report } from '../view.ts';

export function checkMaintenance(
  { parts, versions }: PolicyView,
  { now }: CheckContext,
  report: Report,
): void {
  const ofAll = parts.maintenance;
  const checkEnd = (at: Path, maintenance: Maintenance | null | undefined): void => {
    if (!maintenance || now < maintenance.until) return;
    report([...at, 'maintenance'], {
      rule: 'maintenance',
      severity: 'warning',
      message: `this maintenance ended at ${dateInWords(maintenance.until)}`,
      hint: 'remove maintenance, or write its new end',
      at: 'key',
    });
  };
  checkEnd([], ofAll);
  for (const [label, version] of versions) {
    // An inherited maintenance is reported once, at the API.
    if (version.maintenance?.until !== ofAll?.until) checkEnd(['versions', label], version.maintenance);
    for (const [name, operation] of Object.entries(version.operations ?? {}))
      checkEnd(['versions', label, 'operations', name], operation.maintenance);
  }
}

export function endsOfMaintenance({ parts, versions }: PolicyView): readonly (EpochMs | undefined)[] {
  const within = [...versions.values()].flatMap((version) => [
    version,
    ...Object.values(version.operations ?? {}),
  ]);
  return [...within, parts].map(({ maintenance }) => maintenance?.until);
}
