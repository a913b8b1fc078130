// Whether the ledger of the gateway can tell what a policy file lets it decide.
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import type { PolicyView, Report, Surroundings } from '../../sections/view.ts';
import { versionPath } from '../../sections/view.ts';

const RULE = 'ledger';
const DAY_MS = 86_400_000;

export function checkLedger(
  view: PolicyView,
  { ledgerDays }: Pick<Surroundings, 'ledgerDays'>,
  report: Report,
): void {
  if (ledgerDays === undefined) return;
  for (const [label, version] of view.versions) {
    const { freeze, retire_when: rule } = version;
    const warn = (key: string, message: string, hint: string) =>
      report([...versionPath(label), key], {
        rule: RULE,
        severity: 'warning',
        message,
        hint,
        at: 'key',
      });
    if (ledgerDays === 0) {
      const hint = 'take ledger: off out of the gateway file';
      if (freeze !== undefined) warn('freeze', 'nobody is refused while no ledger is kept', hint);
      if (rule !== undefined) warn('retire_when', 'nothing is judged while no ledger is kept', hint);
      continue;
    }
    const sunset = effectiveSunset(version);
    const frozenDays =
      freeze === undefined || sunset === undefined ? 0 : Math.ceil((sunset - freeze) / DAY_MS);
    if (frozenDays > ledgerDays) {
      const message = `it lasts ${frozenDays} days and the ledger keeps ${ledgerDays}: a caller that pauses longer is refused as new`;
      warn('freeze', message, 'write a longer keep: of the ledger in the gateway file, or a later freeze');
    }
    if (rule !== undefined && rule.days >= ledgerDays) {
      const message = `the ledger keeps ${ledgerDays} days, today among them: it never has ${rule.days} whole ones`;
      warn('retire_when', message, 'write fewer days, or a longer keep: of the ledger in the gateway file');
    }
  }
}
