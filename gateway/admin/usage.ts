// Admin routes for usage: calls to deprecated versions, the records of one consumer, and erasure.

import type { UsageAnswer, UsedVersion } from '../api/usage-answers.ts';
import { usageCsv } from '../api/usage-csv.ts';
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs, MonotonicMs } from '../policy/contract.ts';
import type { OverrideStore } from '../policy/lifecycle/override.ts';
import { dayNumberAt } from '../policy/usage/day.ts';
import type { LedgerStore, PageRequest, UsageVersion } from '../policy/usage/ledger.ts';
import { countOf, createMostCalls, type UsageRow, usageRows } from '../policy/usage/rows.ts';
import { createVersionTallies } from '../policy/usage/version-tallies.ts';
import { daysBefore, type UsageWindow, usageWindow } from '../policy/usage/window.ts';
import { preferredType } from '../policy/versioning/accept.ts';
import {
  type AdminAnswer,
  callsNotStored,
  errorAnswer,
  instantText,
  jsonAnswer,
  malformedQuery,
  storeTooSlow,
} from './answers.ts';
import type { AdminRequest, AdminRoute } from './route.ts';
import { recordBody, rowBody } from './usage-bodies.ts';
import { eraseUsage } from './usage-erasure.ts';
import { readUsageQuery, type UsageQuery } from './usage-query.ts';
import {
  boundedReads,
  RECORDS_PER_PAGE,
  TooSlow,
  tallyAll,
  usageSummary,
  wholeConsumers,
} from './usage-reading.ts';
import { exceptionsOf, usedVersions } from './usage-versions.ts';

export interface UsagePorts {
  readonly plan: () => GatewayPlan;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  readonly overrides: Pick<OverrideStore, 'current'>;
  readonly ledger: Pick<LedgerStore, 'read' | 'count' | 'beganAt' | 'erase'>;
  /** False: counting is off, so the ledger holds only earlier calls. */
  readonly recordsUsage: boolean;
  readonly readiness: () => { readonly store: { readonly state: 'up' | 'down' } };
  /** The ledger has deleted calls before this instant. Undefined: it has deleted none. */
  readonly keptFrom: () => EpochMs | undefined;
}

const USAGE = '/-/usage';
const USUAL_DAYS = 30;
/** Fewer than rows, because a record has all its days. */
const WHOLE_RECORDS_PER_PAGE = 100;
/** Less than the timeout of `sundial usage`, so that the command gets the reason. */
const LOOK_WITHIN_MS = 25_000;
const CSV = 'text/csv';

export function usageRoutes(ports: UsagePorts): readonly AdminRoute[] {
  return [
    { method: 'GET', path: USAGE, show: (request) => showInTime(ports, request) },
    {
      method: 'DELETE',
      path: USAGE,
      action: 'erase_usage',
      perform: (request) => eraseUsage(ports, request),
    },
  ];
}

/** Rejects with `StoreUnavailable`. */
async function showInTime(ports: UsagePorts, request: AdminRequest): Promise<AdminAnswer> {
  const { erase } = ports.ledger;
  const ledger = { erase, ...boundedReads(LOOK_WITHIN_MS, ports.ledger, ports.monotonic) };
  try {
    return await show({ ...ports, ledger }, request);
  } catch (error) {
    if (!(error instanceof TooSlow)) throw error;
    return storeTooSlow(LOOK_WITHIN_MS / 1_000, 'Retry, or name one api and one version.');
  }
}

async function show(ports: UsagePorts, { query, accept }: AdminRequest): Promise<AdminAnswer> {
  const now = ports.now();
  const read = readUsageQuery(query, now);
  if (read.kind === 'malformed') return malformedQuery(read.problems);
  const usageQuery = read.value;
  // A full disk can still be read, but calls since then are only in memory.
  if (ports.recordsUsage && ports.readiness().store.state === 'down') return callsNotStored();
  const beganAt = await ports.ledger.beganAt();
  const window = usageWindow(
    now,
    usageQuery.since ?? usualSince(usageQuery, now, [beganAt, ports.keptFrom()]),
  );
  const scope = { query: usageQuery, window, beganAt };
  if (usageQuery.most !== undefined) return showMost(ports, scope, usageQuery.most);
  const answer = await pageOf(ports, scope);
  if (preferredType(accept, ['application/json', CSV]) === CSV) return csvAnswer(answer, query);
  // Only the first page has the versions.
  if (usageQuery.after !== undefined) return jsonAnswer(200, answer);
  const versions = await versionsOf(ports, scope);
  if (versions.length === 0 && answer.consumers.length === 0 && isUnknown(ports.plan(), usageQuery))
    return unknownSubject(ports.plan(), usageQuery);
  return jsonAnswer(200, { ...answer, versions } satisfies UsageAnswer);
}

/** JSON without pages: one pass over the ledger collects the versions and these rows. */
async function showMost(ports: UsagePorts, scope: UsageScope, most: number): Promise<AdminAnswer> {
  const busiest = createMostCalls(most);
  const versions = await versionsOf(ports, scope, busiest.add);
  if (versions.length === 0 && isUnknown(ports.plan(), scope.query))
    return unknownSubject(ports.plan(), scope.query);
  const consumers = busiest.rows().map(rowBody);
  return jsonAnswer(200, { ...header(ports, scope), consumers, next: null, versions } satisfies UsageAnswer);
}

interface UsageScope {
  readonly query: UsageQuery;
  readonly window: UsageWindow;
  readonly beganAt: EpochMs | undefined;
}

/** All kept days for one consumer, else 30 days. `from`: where the kept records may begin. */
function usualSince({ filter }: UsageQuery, now: EpochMs, from: readonly (EpochMs | undefined)[]): string {
  const begins = filter.consumer === undefined ? [] : from.filter((each) => each !== undefined);
  const days = begins.map((at) => dayNumberAt(now) - dayNumberAt(at));
  return daysBefore(now, Math.max(USUAL_DAYS, ...days));
}

function header({ recordsUsage, keptFrom }: UsagePorts, { window, beganAt }: UsageScope) {
  const kept = keptFrom();
  return {
    now: instantText(window.now),
    since: window.since,
    recording: recordsUsage,
    began: beganAt === undefined ? null : instantText(beganAt),
    kept: kept === undefined ? null : instantText(kept),
  };
}

async function pageOf(ports: UsagePorts, scope: UsageScope): Promise<UsageAnswer> {
  const { ledger } = ports;
  const { query: usageQuery, window } = scope;
  const { filter, since, after } = usageQuery;
  if (filter.consumer === undefined) {
    const count = (page: PageRequest) => ledger.count(filter, window, page);
    const { records, next } = await wholeConsumers(count, { after, limit: RECORDS_PER_PAGE });
    return { ...header(ports, scope), consumers: usageRows(records).map(rowBody), next: next ?? null };
  }
  const reach = since === undefined ? filter : { ...filter, since: window.readFrom };
  const read = (page: PageRequest) => ledger.read(reach, page);
  const { records, next } = await wholeConsumers(read, { after, limit: WHOLE_RECORDS_PER_PAGE });
  const rows = usageRows(records.map((record) => countOf(record, window)));
  return {
    ...header(ports, scope),
    consumers: rows.map(rowBody),
    records: records.map(recordBody),
    next: next ?? null,
  };
}

async function versionsOf(
  { plan: current, ledger, overrides, recordsUsage, keptFrom }: UsagePorts,
  { query: usageQuery, window }: UsageScope,
  /** Called with the rows too. */
  also: (rows: readonly UsageRow[]) => void = () => undefined,
): Promise<UsedVersion[]> {
  const plan = current();
  const { filter } = usageQuery;
  const excepted = new Map<VersionRules, ReadonlySet<string>>();
  const tally = createVersionTallies(({ api, version, consumer }) => {
    const rules = plan.apiNamed(api)?.versions.get(version);
    if (rules === undefined) return false;
    const namesOf = () => new Set(exceptionsOf(rules).map((each) => each.consumer));
    return excepted.getOrInsertComputed(rules, namesOf).has(consumer);
  });
  const add = (rows: readonly UsageRow[]): void => {
    tally.add(rows);
    also(rows);
  };
  await tallyAll(ledger, filter, window, { add });
  const moment = { now: window.now, overrides: overrides.current() };
  // While counting is off, a version without calls may still be called.
  const beganAt = recordsUsage ? ledger.beganAt : async () => undefined;
  const usageOf = async (version: UsageVersion, days: number) =>
    recordsUsage ? usageSummary(ledger, version, days, window.now, keptFrom()) : undefined;
  return usedVersions({ plan, moment, filter, window, beganAt, kept: keptFrom(), usageOf }, tally.versions());
}

function isUnknown(plan: GatewayPlan, { filter: { api, version } }: UsageQuery): boolean {
  const apis = api === undefined ? plan.apis : plan.apis.filter(({ name }) => name === api);
  return apis.length === 0 || (version !== undefined && !apis.some(({ versions }) => versions.has(version)));
}

function unknownSubject({ apis }: GatewayPlan, { filter: { api, version } }: UsageQuery): AdminAnswer {
  const known = api === undefined ? apis : apis.filter(({ name }) => name === api);
  const isApi = known.length === 0 || version === undefined;
  const there = isApi ? apis.map(({ name }) => name) : known.flatMap(({ versions }) => [...versions.keys()]);
  const what = JSON.stringify(isApi ? api : version);
  const message = `Not in the policies or the ledger: ${what}. Known: ${[...new Set(there)].join(', ')}.`;
  return errorAnswer(404, message);
}

/** A Link names the next page (RFC 8288), because a table has no place for it. */
function csvAnswer({ consumers, next }: UsageAnswer, query: URLSearchParams): AdminAnswer {
  const following = new URLSearchParams([...query].filter(([name]) => name !== 'after'));
  if (next !== null) following.set('after', next);
  return {
    status: 200,
    contentType: `${CSV}; charset=utf-8; header=present`,
    headers: {
      'content-disposition': 'attachment; filename="usage.csv"',
      ...(next !== null && { link: `<${USAGE}?${following}>; rel="next"` }),
    },
    body: usageCsv(consumers),
  };
}
