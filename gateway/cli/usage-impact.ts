// Compares the dates in policy files with current calls from the running gateway's ledger.

import type { UsedVersion } from '../api/usage-answers.ts';
import type { PolicySource } from '../plan/load-documents.ts';
import type { Problem } from '../plan/problems.ts';
import type { Path } from '../plan/read/document.ts';
import { versionsOf } from '../plan/versions.ts';
import { DAY_MS, type EpochMs } from '../policy/contract.ts';
import { endsSoon, exceptionInWords } from '../policy/lifecycle/exceptions.ts';
import { judgeRetirement, retireWhenInWords, usageInWords } from '../policy/lifecycle/retire-when.ts';
import { counted, dateInWords } from '../policy/notation.ts';
import { dayNumber, startOfDay } from '../policy/usage/day.ts';
import { type CountingStart, calledInWords, callRateOf } from '../policy/usage/verdict.ts';
import { completeSince, daysBefore, type UsageWindow, usageWindow } from '../policy/usage/window.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';
import type { VersionFile } from '../sections/policy-file.ts';
import { effectiveSunset } from '../sections/schedule/redirects.ts';
import { versionName, versionPath } from '../sections/view.ts';
import { type LiveUsage, USUAL_DAYS } from './live-usage.ts';

/** `text` has no version name and no full stop. */
export interface Impact {
  readonly api: string;
  readonly version: string;
  readonly text: string;
}

export interface Impacts {
  readonly impacts: readonly Impact[];
  readonly problems: readonly Problem[];
}

const NEAR_MS = 30 * DAY_MS;
const RULE = 'live-usage';

/** Such as `orders v1: retires on 2027-01-15 for 14 consumers, 3,100 calls a day`. */
export function formatImpact({ api, version, text }: Impact): string {
  return `${version === UNVERSIONED ? api : `${api} ${version}`}: ${text}`;
}

interface ImpactInput {
  readonly source: PolicySource;
  readonly label: string;
  readonly version: VersionFile;
  readonly used: UsedVersion;
  readonly live: LiveUsage;
  readonly now: EpochMs;
  readonly addImpact: (text: string) => void;
  readonly addWarning: (path: Path, message: string) => void;
}

/** `now`: the lifecycle instant for the check. Versions that the ledger does not have are omitted. */
export function usageImpacts(sources: readonly PolicySource[], live: LiveUsage, now: EpochMs): Impacts {
  const impacts: Impact[] = [];
  const problems: Problem[] = [];
  for (const source of sources) {
    const { file, document } = source;
    for (const [label, version] of versionsOf(file)) {
      const used = usedIn(live, file.api, label, USUAL_DAYS);
      if (used === undefined) continue;
      const addImpact = (text: string) => impacts.push({ api: file.api, version: label, text });
      const addWarning = (path: Path, message: string) =>
        problems.push(
          document.problem([...versionPath(label), ...path], { rule: RULE, severity: 'warning', message }),
        );
      const judged: ImpactInput = { source, label, version, used, live, now, addImpact, addWarning };
      checkRetirement(judged);
      checkRetireWhen(judged);
      checkHold(judged);
      checkSunset(judged);
      checkExceptions(judged);
    }
  }
  return { impacts, problems };
}

function usedIn({ answers }: LiveUsage, api: string, label: string, days: number): UsedVersion | undefined {
  return answers.get(days)?.versions?.find((each) => each.api === api && each.version === label);
}

function checkRetirement({ version, used, live, now, addImpact }: ImpactInput): void {
  const sunset = effectiveSunset(version);
  if (sunset === undefined || sunset <= now || used.consumers === 0) return;
  const window = usageWindow(Date.parse(live.now), daysBefore(Date.parse(live.now), USUAL_DAYS));
  addImpact(
    `retires on ${dateInWords(sunset)} for ${calledInWords(callRateOf(used, lookOf(used, window), window))}`,
  );
}

/** A version with nothing deprecated has no `looks`. Its calls are counted for the whole window. */
function lookOf({ looks }: UsedVersion, { since }: UsageWindow): CountingStart {
  if (looks === undefined) return { since: startOfDay(dayNumber(since)), because: 'window' };
  return looks.since === null
    ? { since: undefined, because: 'ledger' }
    : { since: Date.parse(looks.since), because: looks.because };
}

function checkRetireWhen({
  source,
  label,
  version,
  used,
  live,
  now,
  addImpact,
  addWarning,
}: ImpactInput): void {
  const { retire_when: rule } = version;
  const sunset = effectiveSunset(version);
  if (rule === undefined || sunset === undefined || sunset <= now) return;
  const { consumers, calls } = usedIn(live, used.api, label, rule.days) ?? { consumers: 0, calls: 0 };
  const { kept = null } = live.answers.get(USUAL_DAYS) ?? {};
  const since = completeSince(countedSince(used, live), kept === null ? undefined : Date.parse(kept));
  const usage = { consumers, calls, days: rule.days, since };
  const { kind } = judgeRetirement(rule, usage, now);
  const bound = `retire_when ${retireWhenInWords(rule)}`;
  if (kind === 'met') addImpact(`${bound}: met`);
  if (kind === 'unknown') addImpact(`${bound}: the ledger has not counted long enough`);
  if (kind !== 'exceeded') return;
  const then = rule.onExceed === 'hold' ? 'its sunset would be held' : 'its sunset stays';
  const impact = `${bound}: exceeded by ${usageInWords(usage)}, ${then}`;
  if (sunset - now > NEAR_MS) addImpact(impact);
  else addWarning(['retire_when'], `${versionName(label, source.file)}, ${dateInWords(sunset)}: ${impact}`);
}

/** A hold stays after its rule is removed, because callers know its end. */
function checkHold({ version, used, addImpact }: ImpactInput): void {
  const { heldUntil = null } = used.decides ?? {};
  if (heldUntil === null) return;
  const held = `its retirement is held now, until ${dateInWords(Date.parse(heldUntil))}`;
  if (version.retire_when?.onExceed === 'hold')
    addImpact(`${held} or longer; on_exceed: warn lets it expire`);
  else addImpact(`${held} at the latest; sundial pause --end ends it at once`);
}

/** When counting began. Undefined: not yet. */
function countedSince({ decides, deprecated }: UsedVersion, { answers }: LiveUsage): EpochMs | undefined {
  const { began = null } = answers.get(USUAL_DAYS) ?? {};
  const texts = decides === undefined ? [began, deprecated] : [decides.countedSince];
  const instants = texts.flatMap((text) => (text === null ? [] : [Date.parse(text)]));
  return (decides === undefined ? began : decides.countedSince) === null ? undefined : Math.max(...instants);
}

function checkSunset({ source, label, version, used, live, now, addImpact, addWarning }: ImpactInput): void {
  const { freeze } = version;
  if (freeze === undefined) return;
  const name = versionName(label, source.file);
  const since = countedSince(used, live);
  if (freeze <= now && (since === undefined || since >= freeze)) {
    const when = since === undefined ? 'not yet' : `only since ${dateInWords(since)}`;
    addWarning(['freeze'], `this freeze refuses no consumer, because calls of ${name} are counted ${when}`);
    return;
  }
  const excepted = (version.exceptions ?? []).filter(
    ({ from, until }) => from.includes('freeze') && now < until,
  );
  const callers = firstCalls(live, used);
  const late = [...callers].filter(
    ([caller, first]) => first >= freeze && !excepted.some(({ consumer }) => consumer === caller),
  );
  const day = dateInWords(freeze);
  if (freeze > now)
    addImpact(`closes to new consumers on ${day}; ${counted(callers.size, 'consumer')} call it now`);
  else if (late.length === 0) addImpact(`closed to new consumers since ${day}`);
  else {
    const of = `${late.length.toLocaleString('en-US')} of ${counted(callers.size, 'consumer')}`;
    addImpact(`closed to new consumers since ${day}: refuses ${of} that called it in ${USUAL_DAYS} days`);
  }
}

/** By consumer id, whatever the kind of credential, as the gateway judges. Client addresses do not count. */
function firstCalls({ callers }: LiveUsage, used: UsedVersion): ReadonlyMap<string, EpochMs> {
  const first = new Map<string, EpochMs>();
  for (const { api, version, consumer, via, firstCall } of callers) {
    if (api !== used.api || version !== used.version || via === 'address') continue;
    first.set(consumer, Math.min(Date.parse(firstCall), first.get(consumer) ?? Number.POSITIVE_INFINITY));
  }
  return first;
}

function checkExceptions({ version, used, now, addImpact, addWarning }: ImpactInput): void {
  for (const [index, exception] of (version.exceptions ?? []).entries()) {
    const { consumer, until } = exception;
    if (until <= now) continue;
    const use = used.exceptions.find((each) => each.consumer === consumer);
    const calls = use === undefined ? 'an unknown number of calls' : counted(use.calls, 'call');
    const allowed = exceptionInWords(exception);
    if (use !== undefined && use.calls > 0 && endsSoon(exception, now)) {
      const left = counted(Math.floor((until - now) / DAY_MS), 'day');
      addWarning(
        ['exceptions', index, 'until'],
        `${allowed} ends in ${left}, and ${consumer} still calls: ${calls} in ${USUAL_DAYS} days`,
      );
    } else addImpact(`${consumer} has ${allowed}: ${calls} in ${USUAL_DAYS} days`);
  }
}
