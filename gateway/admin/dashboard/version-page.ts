// Body of `/-/versions/{api}/{version}`: its calls by day for thirty days, and the effect of retiring it today.
import { type VersionState, versionStates } from '../../exchange/version-states.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs, MonotonicMs } from '../../policy/contract.ts';
import { exceptionFrom } from '../../policy/lifecycle/exceptions.ts';
import type { OverrideStore } from '../../policy/lifecycle/override.ts';
import { dayNamed, dayNumberAt } from '../../policy/usage/day.ts';
import type { LedgerStore, UsageDay } from '../../policy/usage/ledger.ts';
import { daysBefore } from '../../policy/usage/window.ts';
import { createSlices } from '../../system/time-slices.ts';
import { type AdminAnswer, errorAnswer, instantText, jsonAnswer, storeTooSlow } from '../answers.ts';
import type { AdminRequest } from '../route.ts';
import { boundedReads, RECORDS_PER_PAGE, TooSlow } from '../usage-reading.ts';
import type { MetricReader } from './upstream-bodies.ts';
import { versionBody } from './version-body.ts';

export interface VersionPagePorts {
  readonly plan: () => GatewayPlan;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  readonly overrides: Pick<OverrideStore, 'current'>;
  readonly ledger: Pick<LedgerStore, 'read' | 'count' | 'beganAt'>;
  /** False: counting is off, so the ledger holds only earlier calls. */
  readonly recordsUsage: boolean;
  readonly metrics: MetricReader;
}

/** Whole days besides today, as in /-/usage for 30d. */
const DAYS = 30;
const LOOK_WITHIN_MS = 8_000;

/** Rejects with `StoreUnavailable`. */
export async function versionPage(
  ports: VersionPagePorts,
  { parameter }: AdminRequest,
): Promise<AdminAnswer> {
  const { plan, now, overrides } = ports;
  const moment = { now: now(), overrides: overrides.current() };
  const api = plan().apiNamed(parameter('api'));
  const state = [...versionStates(plan(), moment)].find(
    ({ rules }) => rules.api === api?.name && rules.label === parameter('version'),
  );
  if (api === undefined || state === undefined)
    return errorAnswer(404, 'The policies have no such version. GET /-/versions lists their versions.');
  try {
    const use = await useOf(ports, state.rules, moment.now);
    const version = versionBody(api, state, moment.now);
    return jsonAnswer(200, {
      now: instantText(moment.now),
      recording: ports.recordsUsage,
      recorded: use.countedSince === null ? 'none' : recordedOf(state),
      version,
      ...use,
      answers: await answersOf(ports.metrics, state.rules),
    });
  } catch (error) {
    if (!(error instanceof TooSlow)) throw error;
    return storeTooSlow(LOOK_WITHIN_MS / 1_000, 'GET /-/usage lets the store add up the records.');
  }
}

/** Which calls the ledger records. Calls refused after the sunset have no known caller. */
function recordedOf({ rules, stage }: VersionState): 'all' | 'operations' | 'exceptions' {
  if (stage === 'sunset' || stage === 'retired') return 'exceptions';
  return stage === 'deprecated' || rules.freeze !== undefined ? 'all' : 'operations';
}

/** All requests since this gateway started, refused ones too, by status. Most requests first. */
async function answersOf(metrics: MetricReader, { api, label }: VersionRules) {
  const byStatus = new Map<string, number>();
  for (const { labels, value } of await metrics.read('sundial_requests_total'))
    if (labels.api === api && labels.version === label)
      byStatus.set(String(labels.code), (byStatus.get(String(labels.code)) ?? 0) + value);
  return [...byStatus]
    .map(([status, requests]) => ({ status, requests }))
    .filter(({ requests }) => requests > 0)
    .sort((one, other) => other.requests - one.requests);
}

async function useOf(ports: VersionPagePorts, rules: VersionRules, now: EpochMs) {
  const ledger = boundedReads(LOOK_WITHIN_MS, ports.ledger, ports.monotonic);
  const filter = { api: rules.api, version: rules.label };
  const since = daysBefore(now, DAYS);
  const byDay = new Map<UsageDay, number>(daysUntil(now).map((day) => [day, 0]));
  const met = { consumers: new Set<string>(), calls: 0 };
  const spared = { consumers: new Set<string>(), calls: 0 };
  const nextSlice = createSlices();
  let after: string | undefined;
  do {
    const page = await ledger.read({ ...filter, since }, { after, limit: RECORDS_PER_PAGE });
    for (const { consumer, via, callsByDay } of page.records) {
      // The address of an unknown caller may equal the id of a consumer.
      const known = via === 'address' ? undefined : { id: consumer };
      const group = exceptionFrom('sunset', rules.exceptions, known, now) === undefined ? met : spared;
      group.consumers.add(`${via} ${consumer}`);
      for (const [day, calls] of Object.entries(callsByDay)) {
        const before = byDay.get(day);
        if (before === undefined) continue;
        byDay.set(day, before + calls);
        group.calls += calls;
      }
    }
    after = page.next;
    await nextSlice();
  } while (after !== undefined);
  const beganAt = await ledger.beganAt(filter);
  return {
    /** Null if its calls are not recorded. */
    countedSince: beganAt === undefined || !ports.recordsUsage ? null : instantText(beganAt),
    days: [...byDay].map(([day, calls]) => ({ day, calls })),
    /** In the days above: consumers that would be refused or redirected, and consumers with an exception. */
    impact: { refused: groupBody(met), spared: groupBody(spared) },
  };
}

function daysUntil(now: EpochMs): readonly UsageDay[] {
  const today = dayNumberAt(now);
  return Array.from({ length: DAYS + 1 }, (_, index) => dayNamed(today - DAYS + index));
}

function groupBody({
  consumers,
  calls,
}: {
  readonly consumers: ReadonlySet<string>;
  readonly calls: number;
}) {
  return { consumers: consumers.size, calls };
}
