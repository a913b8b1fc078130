// Checks links: a version has a successor or an alternate, not both.
import { successorOf } from '../schedule/redirects.ts';
import type { PolicyView, Report, Surroundings } from '../view.ts';

export function checkLinks({ versions }: PolicyView, _around: Surroundings, report: Report): void {
  for (const [label, version] of versions) {
    const successor = successorOf(version);
    if (version.alternate === undefined || successor === undefined) continue;
    report(['versions', label, 'alternate'], {
      rule: 'reference',
      message: `${label} leads to ${successor}: alternate is for a version without a successor`,
      at: 'key',
    });
  }
}
