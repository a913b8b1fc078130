// Cross checks of lowered limits: a curve falls, and has a sunset to fall towards.
// One part of the checks of limits; rates are checked beside the rest of the file.

import { writtenLimits } from '../../policy/rate-limit/section.ts';
import type { VersionFile } from '../grammar/policy-grammar.ts';
import type { Path } from '../read/document.ts';
import { effectiveSunset } from '../redirects.ts';
import { versionName } from '../versions.ts';
import type { PolicyView, Report } from './views.ts';

export function checkLowering(view: PolicyView, report: Report): void {
  checkRaise(view, report);
  checkFall(['limits'], view.parts.limits, report);
  for (const [label, version] of view.versions) {
    const path = ['versions', label];
    const sunset = effectiveSunset(version);
    checkFall([...path, 'limits'], version.limits, report);
    checkEnd([...path, 'limits'], version.limits, sunset, report);
    for (const [name, operation] of Object.entries(version.operations ?? {})) {
      const limits = [...path, 'operations', name, 'limits'];
      checkFall(limits, operation.limits, report);
      checkEnd(limits, operation.limits, operation.sunset ?? sunset, report);
    }
  }
}

function checkFall(path: Path, limits: VersionFile['limits'], report: Report): void {
  const lowering = writtenLimits(limits)?.deprecated;
  if (lowering?.kind !== 'curve' || lowering.to <= lowering.from) return;
  const message = 'a curve falls: "to" is at most "from"';
  report([...path, 'deprecated', 'to'], { rule: 'limits', message });
}

function checkEnd(
  path: Path,
  limits: VersionFile['limits'],
  sunset: number | undefined,
  report: Report,
): void {
  if (writtenLimits(limits)?.deprecated?.kind !== 'curve' || sunset !== undefined) return;
  const message = 'a curve leads to a sunset, and there is none here';
  report([...path, 'deprecated'], { rule: 'limits', message, at: 'key' });
}

/** RL-11: what a deprecated version may still be called is meant to be less. */
function checkRaise(view: PolicyView, report: Report): void {
  const { limits } = view.parts;
  for (const [label, { limits: own, deprecated }] of view.versions) {
    if (own === 'off') continue;
    const lowered = own?.deprecated ?? (deprecated === undefined ? undefined : limits?.deprecated);
    const rate = own?.rate ?? limits?.rate;
    if (lowered?.kind !== 'absolute' || rate === undefined) continue;
    if (lowered.units / lowered.windowMs <= rate.units / rate.windowMs) continue;
    const path = own?.deprecated === undefined ? ['limits'] : ['versions', label, 'limits'];
    const message = `this limit is higher than the rate that it should lower for ${versionName(label, view.parts)}`;
    report([...path, 'deprecated'], { rule: 'limits', severity: 'warning', message });
  }
}
