// Whether the ledger of the gateway can tell what a policy file lets it decide.
// A warning each: without the figures nobody is refused and nothing is held, which is what the file would otherwise do.
import { versionPath } from '../versions.ts';
import type { PolicyView, Report, Surroundings } from './views.ts';

const RULE = 'ledger';

export function checkLedger(
  view: PolicyView,
  { ledgerDays }: Pick<Surroundings, 'ledgerDays'>,
  report: Report,
): void {
  if (ledgerDays === undefined) return;
  for (const [label, { freeze, retire_when: rule }] of view.versions) {
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
    } else if (rule !== undefined && rule.days >= ledgerDays) {
      const message = `the ledger keeps ${ledgerDays} days, today among them: it never has ${rule.days} whole ones`;
      warn('retire_when', message, 'write fewer days, or a longer keep: of the ledger in the gateway file');
    }
  }
}
