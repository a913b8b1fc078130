// Checks `limits`: names, rates, bursts, sliding logs, costs, and limits of deprecated versions.

import type { Path } from '../../plan/read/document.ts';
import { type CheckContext, isWritten, type PolicyView, type Report } from '../view.ts';
import { compileLimits } from './compile.ts';
import { checkCosts } from './costs.ts';
import { type NamedLimit, namedLimits, placeOfLimit, type WrittenLimits } from './grammar.ts';
import { checkLowering } from './lowering.ts';

/** A sliding log stores one number per unit and subject. */
const LONGEST_LOG = 10_000;
const YEAR_MS = 365 * 86_400_000;
/** Redis counts microseconds in doubles, which are exact for 228 years from now. */
const MAX_YEARS = 200;

export function checkLimits(view: PolicyView, _context: CheckContext, report: Report): void {
  const ofApi = view.parts.limits;
  checkEach([], ofApi, [], view, report);
  for (const [label, version] of view.versions) {
    checkEach(['versions', label], version.limits, [ofApi], view, report);
    const beyond = version.limits === 'off' ? [] : [version.limits, ofApi];
    for (const [name, { limits }] of Object.entries(version.operations ?? {}))
      checkEach(['versions', label, 'operations', name], limits, beyond, view, report);
  }
  checkRates(view, report);
  checkTogether(view, report);
  checkCosts(view, report);
  checkLowering(view, report);
}

/** Checks one limit and the uniqueness of its name. `beyond`: the levels from which it inherits, nearest first. */
function checkEach(
  owner: Path,
  limits: WrittenLimits,
  beyond: readonly WrittenLimits[],
  view: PolicyView,
  report: Report,
): void {
  const names = new Set<string>();
  for (const limit of namedLimits(limits)) {
    const at = placeOfLimit(owner, limit);
    const wrong = (key: string, message: string, hint?: string) =>
      report([...at, key], { rule: 'limits', message, ...(hint && { hint }) });
    if (names.has(limit.name)) {
      const named = isWritten(view, [...at, 'name']);
      const message = `two limits of this list have the name ${limit.name}`;
      report(named ? [...at, 'name'] : at, { rule: 'limits', message, hint: 'give each limit its own name' });
    }
    names.add(limit.name);
    if (limit.by === 'consumer' && view.parts.access === 'public')
      wrong('by', 'a public API identifies no consumer', 'write by: address');
    const layers = [limit, ...beyond.flatMap((each) => namedLimits(each).filter(isNamed(limit.name)))];
    if (limit.burst !== undefined || limit.rate !== undefined) {
      const years = Math.round(longestFill(layers) / YEAR_MS);
      if (years > MAX_YEARS)
        wrong(
          limit.burst === undefined ? 'rate' : 'burst',
          `at this rate the burst takes ${years.toLocaleString('en')} years to refill: stores count at most ${MAX_YEARS}`,
          'write a smaller burst, or a higher rate',
        );
    }
    if (nearestValue(layers, 'algorithm') !== 'sliding-log') continue;
    if (limit.burst !== undefined)
      wrong('burst', 'a sliding log has no burst: it admits at most the rate in any window');
    if (limit.exact === false)
      wrong('exact', 'a sliding log is always exact: its units cannot be leased in advance');
    const { rate, algorithm, deprecated } = limit;
    const long = (units = 0) => units > LONGEST_LOG;
    const tooLong = (key: string) =>
      wrong(
        key,
        `a sliding log stores the time of every request: at most ${LONGEST_LOG} in a window`,
        'write a shorter window, or algorithm: gcra',
      );
    if (
      rate !== undefined
        ? long(rate.units)
        : algorithm !== undefined && long(nearestValue(layers, 'rate')?.units)
    )
      tooLong(rate === undefined ? 'algorithm' : 'rate');
    if (deprecated?.kind === 'absolute' && long(deprecated.units)) tooLong('deprecated');
  }
}

function isNamed(name: string): (limit: NamedLimit) => boolean {
  return (limit) => limit.name === name;
}

/** The value of the nearest level that has one. */
function nearestValue<K extends keyof NamedLimit>(
  layers: readonly NamedLimit[],
  key: K,
): NamedLimit[K] | undefined {
  return layers.find((each) => each[key] !== undefined)?.[key];
}

/**
 * Milliseconds until an empty bucket is full. A burst belongs to the rate of its own level, or to the next outer rate.
 */
function longestFill(layers: readonly NamedLimit[]): number {
  const rated = layers.findIndex(({ rate }) => rate !== undefined);
  const rate = layers[rated]?.rate;
  const burst = nearestValue(layers.slice(0, rated + 1), 'burst');
  return rate === undefined || burst === undefined ? 0 : (burst * rate.windowMs) / rate.units;
}

/** Every limit has its own rate or an inherited one. */
function checkRates(view: PolicyView, report: Report): void {
  const { limits } = view.parts;
  const reportMissingRate = (owner: Path, limit: Parameters<typeof placeOfLimit>[1]) =>
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
  const reported = new Set<string>();
  for (const limit of namedLimits(limits)) {
    const needsOwn = ([label, version]: [string, { limits?: WrittenLimits }]) =>
      version.limits !== 'off' && !rated(['versions', label], version.limits).has(limit.name);
    if (ofAll.has(limit.name) || !(view.unversioned || [...view.versions].some(needsOwn))) continue;
    reportMissingRate([], limit);
    reported.add(limit.name);
  }
  for (const [label, version] of view.versions) {
    const owner = ['versions', label];
    const own = rated(owner, version.limits);
    const known = version.limits === 'off' ? own : ofAll.union(own).union(reported);
    for (const limit of view.unversioned ? [] : namedLimits(version.limits))
      if (!known.has(limit.name)) reportMissingRate(owner, limit);
    for (const [name, { limits: ofOperation }] of Object.entries(version.operations ?? {})) {
      const place = [...owner, 'operations', name];
      const all = known.union(rated(place, ofOperation));
      for (const limit of namedLimits(ofOperation)) if (!all.has(limit.name)) reportMissingRate(place, limit);
    }
  }
}

/** Checks that need all limits of a request. */
function checkTogether(view: PolicyView, report: Report): void {
  const { limits, access = 'public' } = view.parts;
  const undated = { deprecated: undefined, sunset: undefined };
  const reported = new Set<string>();
  for (const [label, version] of view.versions) {
    const of = { label: '', schedule: undated, version: version.limits };
    const each = compileLimits({ api: '', limits, access }, of)?.each ?? [];
    const perOne = each.filter(({ by }) => by !== 'everyone');
    // A shadow limit refuses nothing, so the other limit can be reached.
    for (const all of each.filter(({ by, shadow }) => by === 'everyone' && !shadow)) {
      const one = perOne.find(({ active }) => perMs(active) > perMs(all.active));
      if (one === undefined || reported.has(all.active.name)) continue;
      reported.add(all.active.name);
      const owner = namedLimits(version.limits).some(({ name }) => name === all.active.name)
        ? ['versions', label]
        : [];
      const at = namedLimits(owner.length === 0 ? limits : version.limits);
      const place = at.find(({ name }) => name === all.active.name);
      const message = `limit ${one.active.name} is never reached: all callers together get less than one ${one.by} gets from it`;
      if (place !== undefined)
        report(placeOfLimit(owner, place), { rule: 'limits', severity: 'warning', message });
    }
  }
}

function perMs({ units, windowMs }: { readonly units: number; readonly windowMs: number }): number {
  return units / windowMs;
}
