// version-removed: a version that was served leaves a tombstone, which answers 410 or redirects.
// Deleting it makes the version unknown, and its callers see a 404 that explains nothing.
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { PolicyView, Report } from '../check/views.ts';

export function versionRemoved(published: readonly string[], view: PolicyView, report: Report): void {
  const missing = published.filter((label) => !view.labels.includes(label));
  for (const label of missing) {
    report(['versions'], {
      rule: 'version-removed',
      message: `${label} was published and is not declared any more: its callers get 404 instead of 410 or a redirect`,
      hint: `keep ${label} and its dates; after its sunset it needs no upstream`,
      change: { api: view.parts.api ?? '', label, to: 'removed' },
      at: 'key',
    });
  }
}

/** The same of a whole API, said where it stood. */
export function apiRemoved(api: string, published: readonly string[], report: Report): void {
  const isWhole = published.includes(UNVERSIONED);
  const what = isWhole ? 'its dates' : 'its versions and their dates';
  report(['api'], {
    rule: 'version-removed',
    message: `this API was published${isWhole ? '' : ` (${published.join(', ')})`} and no policy file describes it any more`,
    hint: `keep ${what}; after ${isWhole ? 'its' : 'their'} sunset ${isWhole ? 'it needs' : 'they need'} no upstream`,
    change: { api, label: api, to: 'removed' },
  });
}
