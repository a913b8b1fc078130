// Checks version labels.
import { parseLabel } from '../../policy/versioning/label.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import { VERSION_KEYS } from '../policy-file.ts';
import type { CheckContext, PolicyView, Report } from '../view.ts';

export function checkVersions(view: PolicyView, _context: CheckContext, report: Report): void {
  if (view.unversioned) return;
  if (view.labels.length === 0 && view.parts.versions !== undefined)
    report(['versions'], { rule: 'reference', message: 'no version is declared', at: 'key' });
  for (const label of view.labels) {
    if (parseLabel(label) === undefined) {
      report(['versions', label], {
        rule: 'label',
        message: `not a version label: "${label.slice(0, 60)}"`,
        hint: correctedLabel(label),
        at: 'key',
      });
    }
    checkReach(label, view, report);
  }
}

function correctedLabel(label: string): string {
  if (VERSION_KEYS.includes(label)) return 'it belongs to the version above: indent it further';
  const near = `v${label.replace(/^(?:v|version|ver|release)[\s._-]*/i, '')}`;
  return parseLabel(near) === undefined
    ? 'write v and the number, such as v1 or v1.2.0, or a date such as 2026-01-15'
    : `write ${near}`;
}

/** `vN` means the newest version of that major, so that a full version beside it takes all its requests. */
function checkReach(label: string, { labels }: PolicyView, report: Report): void {
  const short = parseLabel(label);
  if (short?.kind !== 'number' || short.minor !== undefined) return;
  const [answering] = createResolutionRules({ header: undefined, default: undefined, labels }).candidates(
    label,
  );
  if (answering === undefined || answering === label) return;
  report(['versions', label], {
    rule: 'label',
    severity: 'warning',
    message: `after the release of ${answering}, requests for ${label} get ${answering}`,
    hint: `call it ${label}.0.0, so that requests can name it in full`,
    at: 'key',
  });
}
