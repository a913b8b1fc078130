// Cross checks of limits: a rate for whatever is limited, somebody to count, and room for what a request costs.
// What is lowered with a deprecation is checked beside this, in lowering.ts.
import type { Limit, LimitRule } from '../../policy/rate-limit/limit.ts';
import { namedLimits, type WrittenLimits } from '../../policy/rate-limit/section.ts';
import { compileLimits, type LimitsOf } from '../compile/limits.ts';
import type { Path } from '../read/document.ts';
import { effectiveSunset } from '../redirects.ts';
import { placeOfLimit } from './limit-places.ts';
import { isWritten, type PolicyView, type Report } from './views.ts';

/** A log keeps a number per unit and subject. */
const LONGEST_LOG = 10_000;

export function checkLimits(view: PolicyView, report: Report): void {
  checkEach([], view.parts.limits, view, report);
  for (const [label, version] of view.versions) {
    checkEach(['versions', label], version.limits, view, report);
    for (const [name, { limits }] of Object.entries(version.operations ?? {}))
      checkEach(['versions', label, 'operations', name], limits, view, report);
  }
  checkRates(view, report);
  checkTogether(view, report);
}

/** What one limit says of itself, and that each name stands for one. */
function checkEach(owner: Path, limits: WrittenLimits, view: PolicyView, report: Report): void {
  const names = new Set<string>();
  for (const limit of namedLimits(limits)) {
    const at = placeOfLimit(owner, limit);
    const wrong = (key: string, message: string, hint?: string) =>
      report([...at, key], { rule: 'limits', message, ...(hint && { hint }) });
    if (names.has(limit.name)) {
      const named = isWritten(view, [...at, 'name']);
      const message = `a second limit called ${limit.name} in one list`;
      report(named ? [...at, 'name'] : at, { rule: 'limits', message, hint: 'give each a name of its own' });
    }
    names.add(limit.name);
    if (limit.by === 'consumer' && view.parts.access === 'public')
      wrong('by', 'a public API knows no consumer', 'write by: address');
    if (limit.algorithm !== 'sliding-log') continue;
    if (limit.burst !== undefined)
      wrong('burst', 'a sliding log has no burst: exactly its rate passes in any window');
    if (limit.exact === false)
      wrong('exact', 'a sliding log is always exact: what it admits cannot be leased ahead');
    if (limit.rate !== undefined && limit.rate.units > LONGEST_LOG)
      wrong(
        'rate',
        `a sliding log keeps the instant of every request: at most ${LONGEST_LOG} in a window`,
        'write a shorter window, or algorithm: gcra',
      );
  }
}

/** Every limit has a rate, its own or that of the larger whole. */
function checkRates(view: PolicyView, report: Report): void {
  const { limits } = view.parts;
  const lacking = (owner: Path, limit: Parameters<typeof placeOfLimit>[1]) =>
    report(placeOfLimit(owner, limit), {
      rule: 'limits',
      message: 'a limit needs a rate',
      hint: 'write a rate beside it, such as rate: 600/1m',
      at: 'key',
    });
  const rated = (owner: Path, written: WrittenLimits): ReadonlySet<string> => {
    const named = namedLimits(written);
    const has = named.filter((each) => isWritten(view, [...placeOfLimit(owner, each), 'rate']));
    return new Set(has.map(({ name }) => name));
  };
  const ofAll = rated([], limits);
  const blamed = new Set<string>();
  for (const limit of namedLimits(limits)) {
    const needsOwn = ([label, version]: [string, { limits?: WrittenLimits }]) =>
      version.limits !== 'off' && !rated(['versions', label], version.limits).has(limit.name);
    if (ofAll.has(limit.name) || !(view.unversioned || [...view.versions].some(needsOwn))) continue;
    lacking([], limit);
    blamed.add(limit.name);
  }
  for (const [label, version] of view.versions) {
    const owner = ['versions', label];
    const own = rated(owner, version.limits);
    const known = version.limits === 'off' ? own : ofAll.union(own).union(blamed);
    for (const limit of view.unversioned ? [] : namedLimits(version.limits))
      if (!known.has(limit.name)) lacking(owner, limit);
    for (const [name, { limits: ofOperation }] of Object.entries(version.operations ?? {})) {
      const place = [...owner, 'operations', name];
      const all = known.union(rated(place, ofOperation));
      for (const limit of namedLimits(ofOperation)) if (!all.has(limit.name)) lacking(place, limit);
    }
  }
}

/** What only shows where all limits of a request are known. */
function checkTogether(view: PolicyView, report: Report): void {
  const { limits, access = 'public' } = view.parts;
  const undated = { deprecated: undefined, sunset: undefined };
  const rulesOf = (of: Pick<LimitsOf, 'version' | 'operation'>, schedule: LimitsOf['schedule'] = undated) =>
    compileLimits({ api: '', limits, access }, { label: '', schedule, ...of })?.each ?? [];
  const told = new Set<string>();
  for (const [label, version] of view.versions) {
    const each = rulesOf({ version: version.limits });
    const perOne = each.filter(({ by }) => by !== 'everyone');
    // One in shadow refuses nothing, and leaves the other to be reached.
    for (const all of each.filter(({ by, shadow }) => by === 'everyone' && !shadow)) {
      const one = perOne.find(({ active }) => perMs(active) > perMs(all.active));
      if (one === undefined || told.has(all.active.name)) continue;
      told.add(all.active.name);
      const owner = namedLimits(version.limits).some(({ name }) => name === all.active.name)
        ? ['versions', label]
        : [];
      const at = namedLimits(owner.length === 0 ? limits : version.limits);
      const place = at.find(({ name }) => name === all.active.name);
      const message = `everyone together gets less than one ${one.by} does by ${one.active.name}: that limit is never reached`;
      if (place !== undefined)
        report(placeOfLimit(owner, place), { rule: 'limits', severity: 'warning', message });
    }
    for (const [name, operation] of Object.entries(version.operations ?? {})) {
      const { cost } = operation;
      if (cost === undefined) continue;
      const path = ['versions', label, 'operations', name, 'cost'];
      const own = { name, limits: operation.limits, hasDates: false, cost };
      const deprecated = operation.deprecated ?? version.deprecated;
      const sunset = operation.sunset ?? effectiveSunset(version);
      const rules = rulesOf({ version: version.limits, operation: own }, { deprecated, sunset });
      if (rules.length === 0) {
        const message = 'a cost without a limit counts nothing';
        report(path, { rule: 'limits', severity: 'warning', message, at: 'key' });
      }
      const enforced = rules.filter(({ shadow }) => !shadow);
      const short = enforced.find(({ active }) => active.burst < cost);
      const lowered = enforced.find((rule) => lowest(rule).burst < cost);
      if (short !== undefined) {
        const message = `limit ${short.active.name} has room for ${short.active.burst} at once: nothing of this cost ever passes`;
        report(path, { rule: 'limits', message, hint: 'write a larger burst' });
      } else if (lowered !== undefined && deprecated !== undefined) {
        const { name: limit, burst } = lowest(lowered);
        const since = lowered.deprecated.burst < cost ? 'once deprecated' : 'by the sunset';
        const message = `${since}, limit ${limit} has room for ${burst} at once: nothing of this cost passes`;
        report(path, { rule: 'limits', severity: 'warning', message });
      }
    }
  }
}

/** What is left of a limit in the end: the last step of a curve. */
function lowest({ deprecated, curve }: Pick<LimitRule, 'deprecated' | 'curve'>): Limit {
  return curve?.steps.at(-1) ?? deprecated;
}

function perMs({ units, windowMs }: { readonly units: number; readonly windowMs: number }): number {
  return units / windowMs;
}
