// Cross checks of limits: a rate for whatever is limited, and somebody to count.
// What is lowered with a deprecation is checked beside this, in lowering.ts, and what a request costs in costs.ts.
import { namedLimits, type WrittenLimits } from '../../policy/rate-limit/section.ts';
import { compileLimits } from '../compile/limits.ts';
import type { Path } from '../read/document.ts';
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
  const told = new Set<string>();
  for (const [label, version] of view.versions) {
    const of = { label: '', schedule: undated, version: version.limits };
    const each = compileLimits({ api: '', limits, access }, of)?.each ?? [];
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
  }
}

function perMs({ units, windowMs }: { readonly units: number; readonly windowMs: number }): number {
  return units / windowMs;
}
