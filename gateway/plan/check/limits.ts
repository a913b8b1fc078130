// Cross checks of limits: a rate for whatever is limited, and somebody to count.
// What is lowered with a deprecation is checked beside this, in lowering.ts.
import type { VersionParts } from '../grammar/policy-grammar.ts';
import type { Path } from '../read/document.ts';
import { isWritten, type PolicyView, type Report } from './views.ts';

export function checkLimits(view: PolicyView, report: Report): void {
  const { limits, access } = view.parts;
  if (limits?.by === 'consumer' && access === 'public') {
    report(['limits', 'by'], {
      rule: 'limits',
      message: 'a public API knows no consumer',
      hint: 'write by: address',
    });
  }
  const hasRate = (owner: Path) => isWritten(view, [...owner, 'limits', 'rate']);
  const lacking = (owner: Path) =>
    report([...owner, 'limits'], {
      rule: 'limits',
      message: 'a limit needs a rate',
      hint: 'write a rate beside it, such as rate: 600/1m',
      at: 'key',
    });
  const rateOfAll = hasRate([]);
  const needsOwn = ([label, version]: [string, VersionParts]) =>
    version.limits !== 'off' && !hasRate(['versions', label]);
  if (limits !== undefined && !rateOfAll && (view.unversioned || [...view.versions].some(needsOwn))) {
    lacking([]);
    return;
  }
  for (const [label, version] of view.versions) {
    const owner = ['versions', label];
    const isOff = version.limits === 'off';
    if (!isOff && (rateOfAll || hasRate(owner))) continue;
    if (!isOff && version.limits !== undefined) lacking(owner);
    for (const [name, { limits: own }] of Object.entries(version.operations ?? {})) {
      const place = [...owner, 'operations', name];
      if (own !== undefined && own !== 'off' && !hasRate(place)) lacking(place);
    }
  }
}
