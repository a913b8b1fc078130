// Checks links: a version has no alternate beside a successor.
import { successorOf } from '../schedule/redirects.ts';
import type { CheckContext, PolicyView, Report } from '../view.ts';

export function checkLinks({ versions }: PolicyView, _context: CheckContext, report: Report): void {
  for (const [label, version] of versions) {
    const successor = successorOf(version);
    if (version.alternate === undefined || successor === undefined) continue;
    report(['versions', label, 'alternate'], {
      rule: 'reference',
      message: `alternate has no effect: ${label} has the successor ${successor}`,
      at: 'key',
    });
  }
}
