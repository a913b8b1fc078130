// Checks the limits of deprecated versions: not higher than the rate, and with a sunset if they fall each day.
import type { Path } from '../../plan/read/document.ts';
import { effectiveSunset } from '../schedule/redirects.ts';
import { type PolicyView, type Report, versionName } from '../view.ts';
import { limitLayers } from './compile.ts';
import { type NamedLimit, namedLimits, placeOfLimit, type WrittenLimits } from './grammar.ts';

export function checkLowering(view: PolicyView, report: Report): void {
  checkBelowRate(view, report);
  checkFall([], view.parts.limits, report);
  for (const [label, version] of view.versions) {
    const path = ['versions', label];
    const sunset = effectiveSunset(version);
    checkFall(path, version.limits, report);
    checkHasSunset(path, version.limits, sunset, report);
    for (const [name, operation] of Object.entries(version.operations ?? {})) {
      const owner = [...path, 'operations', name];
      checkFall(owner, operation.limits, report);
      checkHasSunset(owner, operation.limits, operation.sunset ?? sunset, report);
    }
  }
}

function checkFall(owner: Path, limits: WrittenLimits, report: Report): void {
  for (const limit of namedLimits(limits)) {
    const lowering = limit.deprecated;
    if (lowering?.kind !== 'curve' || lowering.to <= lowering.from) continue;
    const message = '"to" must not be higher than "from"';
    report([...placeOfLimit(owner, limit), 'deprecated', 'to'], { rule: 'limits', message });
  }
}

function checkHasSunset(
  owner: Path,
  limits: WrittenLimits,
  sunset: number | undefined,
  report: Report,
): void {
  for (const limit of namedLimits(limits)) {
    if (limit.deprecated?.kind !== 'curve' || sunset !== undefined) continue;
    const message = 'a limit with from and to needs a sunset';
    report([...placeOfLimit(owner, limit), 'deprecated'], { rule: 'limits', message, at: 'key' });
  }
}

/** RL-11: a limit for the deprecated time that is higher than the rate is a warning. */
function checkBelowRate(view: PolicyView, report: Report): void {
  const { limits } = view.parts;
  for (const [label, version] of view.versions) {
    for (const [, [, own, whole]] of limitLayers({ limits }, { version: version.limits })) {
      const from = own?.deprecated !== undefined || version.deprecated === undefined ? own : whole;
      const lowered = from?.deprecated;
      const rate = own?.rate ?? whole?.rate;
      if (lowered?.kind !== 'absolute' || rate === undefined) continue;
      if (lowered.units / lowered.windowMs <= rate.units / rate.windowMs) continue;
      const place = placeOfLimit(from === own ? ['versions', label] : [], from as NamedLimit);
      const message = `this limit is higher than the rate that it should lower for ${versionName(label, view.parts)}`;
      report([...place, 'deprecated'], { rule: 'limits', severity: 'warning', message });
    }
  }
}
