// Checks each version with `retire_when` before its sunset: holds the sunset or warns that it comes.
import type { ApiPlan, GatewayPlan, VersionRules } from '../plan/plan.ts';
import { DAY_MS, type EpochMs, type MonotonicMs, StoreUnavailable } from '../policy/contract.ts';
import { knownAt } from '../policy/lifecycle/announcements.ts';
import { type Hold, type OverrideStore, retirementHoldOf } from '../policy/lifecycle/override.ts';
import {
  holdFor,
  judgeRetirement,
  type Retirement,
  type UsageSummary,
  usageInWords,
} from '../policy/lifecycle/retire-when.ts';
import type { LedgerStore } from '../policy/usage/ledger.ts';
import { usageSummary } from './usage-reading.ts';

export interface GuardPorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  readonly overrides: Pick<OverrideStore, 'current' | 'put'>;
  readonly ledger: Pick<LedgerStore, 'count' | 'beganAt'>;
  /** The ledger has deleted calls before this instant. Undefined: it has deleted none. */
  readonly keptFrom: () => EpochMs | undefined;
  readonly report: GuardReport;
}

export interface GuardReport {
  readonly onJudged: (version: VersionRules, retirement: Retirement) => void;
  /** The hold is stored, and in force on every gateway. `before`: the hold that it renews. */
  readonly onHeld: (hold: Hold, before: Hold | undefined) => void;
  /** At most once a day per version: the sunset is near or just passed, and calls exceed the rule. */
  readonly onGoing: (version: VersionRules, sunset: EpochMs, usage: string) => void;
  /** The store was unavailable, so a check or a hold is missing. */
  readonly onAway: (version: VersionRules, reason: Error) => void;
  readonly onFault: (error: unknown) => void;
}

export interface RetirementGuard {
  /** Runs one check at a time. Concurrent callers share it. Never rejects. */
  readonly look: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const EVERY_MS = 60_000;
/** How long before a sunset each check reads the ledger. */
const NEAR_SUNSET_MS = 2 * DAY_MS;
/** How long before a sunset the guard warns. */
const WARN_BEFORE_MS = 30 * DAY_MS;
/** A ledger of 100,000 consumers takes seconds to read. Versions with a distant sunset can wait an hour. */
const DISTANT_CHECK_EVERY_MS = 60 * 60_000;

const NOT_KNOWN: Retirement = { kind: 'unknown', usage: undefined };

interface UsageCheck {
  readonly revision: string;
  readonly at: MonotonicMs;
  readonly usage: UsageSummary;
}

export function openRetirementGuard(ports: GuardPorts): RetirementGuard {
  const { plan, now, monotonic, overrides, ledger, keptFrom, report } = ports;
  const looks = new Map<string, UsageCheck>();
  const reportedOn = new Map<string, number>();
  let running: Promise<void> | undefined;

  const usageOf = async (version: VersionRules, days: number, sunset: EpochMs): Promise<UsageSummary> => {
    const { revision } = plan();
    const key = keyOf(version);
    const known = looks.get(key);
    const fits = known?.revision === revision && known.usage.days === days;
    if (
      known !== undefined &&
      fits &&
      sunset - now() > NEAR_SUNSET_MS &&
      monotonic() - known.at < DISTANT_CHECK_EVERY_MS
    )
      return known.usage;
    const of = { api: version.api, version: version.label };
    const usage = await usageSummary(ledger, of, days, now(), keptFrom());
    looks.set(key, { revision, at: monotonic(), usage });
    return usage;
  };

  const say = (version: VersionRules, retirement: Retirement, sunset: EpochMs): void => {
    const today = Math.floor(now() / DAY_MS);
    const isNear = now() >= sunset - WARN_BEFORE_MS && now() < sunset + DAY_MS;
    if (retirement.kind !== 'exceeded' || !isNear || reportedOn.get(keyOf(version)) === today) return;
    reportedOn.set(keyOf(version), today);
    report.onGoing(version, sunset, usageInWords(retirement.usage));
  };

  const lookAt = async ({ mode }: ApiPlan, version: VersionRules): Promise<void> => {
    const { retireWhen: rule, schedule, upstream } = version;
    const { sunset, deprecated } = schedule;
    if (rule === undefined || sunset === undefined || upstream === undefined) return;
    if (deprecated === undefined || now() < deprecated) return;
    const moment = { now: now(), hold: retirementHoldOf(overrides.current(), version, now()) };
    // A sunset more than a day ago is not reported.
    if (moment.hold === undefined && now() >= sunset + DAY_MS) return;
    let isJudged = false;
    try {
      const retirement = judgeRetirement(rule, await usageOf(version, rule.days, sunset), now());
      report.onJudged(version, retirement);
      isJudged = true;
      const hold = mode === 'enforce' ? holdFor(version, rule, retirement, moment) : undefined;
      if (hold !== undefined) {
        await overrides.put(hold);
        report.onHeld(hold, moment.hold);
      }
      if (rule.onExceed === 'warn') say(version, retirement, sunset);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (!isJudged) report.onJudged(version, NOT_KNOWN);
      report.onAway(version, error);
    }
  };

  const checkAll = async (): Promise<void> => {
    for (const api of plan().apis)
      for (const version of api.versions.values()) await lookAt(api, knownAt(version, now()));
  };

  const look = (): Promise<void> => {
    running ??= checkAll()
      .catch(report.onFault)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const timer = setInterval(() => void look(), EVERY_MS).unref();
  void look();
  return {
    look,
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

function keyOf({ api, label }: VersionRules): string {
  return `${api} ${label}`;
}
