// Checks the default of `resolve`: declared, released, and replaced before its sunset.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import type { PolicyParts } from '../policy-file.ts';
import { effectiveSunset, hasSunset, redirectChain, successorOf } from '../schedule/redirects.ts';
import { type PolicyView, type Report, reportUnknownName } from '../view.ts';

export function checkDefault(view: PolicyView, now: EpochMs, report: Report): void {
  for (const label of view.labels) checkEnd(label, view, report);
  checkReleased(view, now, report);
}

/** VER-3: once the default has ended, requests that name no version get 410. */
function checkEnd(label: string, view: PolicyView, report: Report): void {
  const { resolve = [] } = view.parts;
  const index = resolve.findIndex((entry) => entry.default === label);
  const ends = effectiveSunset(view.versions.get(label) ?? {});
  const receivers = defaultReceivers(view.parts);
  // In observe mode ended versions are still served.
  if (index < 0 || ends === undefined || receivers === undefined || view.parts.mode === 'observe') return;
  const next = versionAfter(label, view);
  const isPlaced = resolve.some(({ path, subdomain }) => path !== undefined || subdomain !== undefined);
  if (next === undefined || (isPlaced && isRedirectedAfterEnd(label, view))) return;
  report(['resolve', index, 'default'], {
    rule: 'default-served',
    message: `${label} ends on ${dayOf(ends)}: from then on ${receivers} gets 410`,
    hint: `write default: ${next} by that day`,
  });
}

/** A planned version is unknown (STAT-1). If it is the default, no other version replaces it. */
function checkReleased(view: PolicyView, now: EpochMs, report: Report): void {
  const index = view.parts.resolve?.findIndex((entry) => entry.default !== undefined) ?? -1;
  const label = view.parts.resolve?.[index]?.default;
  if (label === undefined) return;
  const path = ['resolve', index, 'default'];
  if (!view.labels.includes(label)) {
    reportUnknownName(path, 'version', label, view.labels, view, report);
    return;
  }
  const { released = now } = view.versions.get(label) ?? {};
  const isReleased = (other: string) =>
    (view.versions.get(other)?.released ?? Number.POSITIVE_INFINITY) <= now;
  const served = view.labels.filter(
    (other) => isReleased(other) && !hasSunset(view.versions.get(other) ?? {}, now),
  );
  const other = served.sort(compareLabels).at(-1);
  const receivers = defaultReceivers(view.parts);
  if (released <= now || other === undefined || receivers === undefined) return;
  report(path, {
    rule: 'default-served',
    message: `${label} is released on ${dayOf(released)}: until then ${receivers} gets 400`,
    hint: `write default: ${other} until then`,
  });
}

/** The version that callers can use after `label` ends: a successor, otherwise the newest version served then. */
function versionAfter(label: string, { versions }: PolicyView): string | undefined {
  const ends = endOf(label, versions);
  const isServed = (other: string) => {
    const { released } = versions.get(other) ?? {};
    return released !== undefined && released <= ends && endOf(other, versions) > ends;
  };
  const next = (from: string) => successorOf(versions.get(from));
  const passed = new Set([label]);
  for (let at = next(label); at !== undefined && !passed.has(at); at = next(at)) {
    if (isServed(at)) return at;
    passed.add(at);
  }
  return [...versions.keys()].filter(isServed).sort(compareLabels).at(-1);
}

/** Whether a redirect answers its requests after its end. */
function isRedirectedAfterEnd(label: string, { versions }: PolicyView): boolean {
  const chain = redirectChain(label, versions);
  return chain.kind === 'hops' && chain.hops.some(({ until }) => until > endOf(label, versions));
}

function endOf(label: string, versions: PolicyView['versions']): number {
  return effectiveSunset(versions.get(label) ?? {}) ?? Number.POSITIVE_INFINITY;
}

/**
 * Which requests get the default, in words. Undefined if none do: a pinned account has its own version, unless `exact`
 * finds none for its creation day (VER-5).
 */
function defaultReceivers({ resolve = [] }: Pick<PolicyParts, 'resolve'>): string | undefined {
  const pin = resolve.find((entry) => entry.pin !== undefined)?.pin;
  if (pin === undefined) return 'a request that names no version';
  const isExact = pin.match === 'exact' && pin.created !== undefined;
  return isExact ? 'an account created on a day without a version' : undefined;
}
