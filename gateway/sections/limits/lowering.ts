// Checks lowered limits: a curve must fall and needs a sunset.
import type { Path } from '../../plan/read/document.ts';
import { effectiveSunset } from '../schedule/redirects.ts';
import { type PolicyView, type Report, versionName } from '../view.ts';
import { limitLayers } from './compile.ts';
import { type NamedLimit, namedLimits, placeOfLimit, type WrittenLimits } from './grammar.ts';

export function checkLowering(view: PolicyView, report: Report): void {
  checkRaise(view, report);
  checkFall([], view.parts.limits, report);
  for (const [label, version] of view.versions) {
    const path = ['versions', label];
    const sunset = effectiveSunset(version);
    checkFall(path, version.limits, report);
    checkEnd(path, version.limits, sunset, report);
    for (const [name, operation] of Object.entries(version.operations ?? {})) {
      const owner = [...path, 'operations', name];
      checkFall(owner, operation.limits, report);
      checkEnd(owner, operation.limits, operation.sunset ?? sunset, report);
    }
  }
}

function checkFall(owner: Path, limits: WrittenLimits, report: Report): void {
  for (const limit of namedLimits(limits)) {
    const lowering = limit.deprecated;
    if (lowering?.kind !== 'curve' || lowering.to <= lowering.from) continue;
    const message = 'a curve must fall: "to" must not be greater than "from"';
    report([...placeOfLimit(owner, limit), 'deprecated', 'to'], { rule: 'limits', message });
  }
}

function checkEnd(owner: Path, limits: WrittenLimits, sunset: number | undefined, report: Report): void {
  for (const limit of namedLimits(limits)) {
    if (limit.deprecated?.kind !== 'curve' || sunset !== undefined) continue;
    const message = 'a curve needs a sunset, but there is none here';
    report([...placeOfLimit(owner, limit), 'deprecated'], { rule: 'limits', message, at: 'key' });
  }
}

/** RL-11: the lowered limit should be lower than the rate. */
function checkRaise(view: PolicyView, report: Report): void {
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
