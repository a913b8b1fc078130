// Cross checks of one policy file against itself and the gateway: of each section, and across sections.
import { SECTIONS } from '../../sections/list.ts';
import { isWritten, type PolicyView, type Report, type Surroundings } from '../../sections/view.ts';
import type { Path } from '../read/document.ts';
import { pathsOf } from '../routes/api-routes.ts';
import { reservedPath } from '../routes/reserved-paths.ts';
import { checkRules } from '../rules/check.ts';
import { switchedReport } from '../rules/switch.ts';
import { checkHosts } from './hosts.ts';
import { checkLedger } from './ledger.ts';
import { checkMethodOverride } from './method-override.ts';
import { checkVersions } from './versions.ts';

export function checkPolicy(view: PolicyView, around: Surroundings, unswitched: Report): void {
  const report = switchedReport(view.parts.rules, unswitched);
  checkVersions(view, around.now, report);
  checkLedger(view, around, report);
  checkRules(view, around.paths, report);
  if (view.unversioned) checkUnversioned(view, report);
  for (const { check } of SECTIONS) check?.(view, around, report);
  checkHosts(view, around.certifiedNames, report);
  checkMethodOverride(view, report);
  checkReserved(view, report);
}

/** Without versions there is nothing to resolve or to tell an upstream, and perhaps nothing to deprecate: such a key would do nothing. */
function checkUnversioned(view: PolicyView, report: Report): void {
  const ofUpstreams = view.upstreamNames.map((name) => ['upstreams', name, 'version_as']);
  const idle = [...SECTIONS.flatMap(({ needsVersions = [] }) => needsVersions), ...ofUpstreams];
  const undated = SECTIONS.flatMap(({ needsDeprecation = [] }) => needsDeprecation);
  const say = (paths: readonly Path[], where: string) => {
    for (const path of paths.filter((each) => isWritten(view, each))) {
      report(path, {
        rule: 'unversioned',
        message: `${path.at(-1)} does nothing in an API ${where}`,
        at: 'key',
      });
    }
  };
  say(idle, 'with "versions: none"');
  if (!isWritten(view, ['deprecated'])) say(undated, 'with "versions: none" and no deprecated of its own');
}

/** The gateway answers these paths itself: an API there would never be asked. */
function checkReserved(view: PolicyView, report: Report): void {
  for (const { path, at } of pathsOf(view.parts)) {
    const reserved = reservedPath(path);
    if (reserved === undefined) continue;
    report(at, { rule: 'reserved', message: `${reserved} is reserved by the gateway` });
  }
}
