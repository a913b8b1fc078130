// The deprecated versions and operations that a consumer still calls, with their dates, for that consumer only.
import type { ApiPlan, GatewayPlan, VersionRules } from '../../plan/plan.ts';
import { lifecycleUrl } from '../../plan/routes/reserved-paths.ts';
import type { AccessRule, Consumer } from '../../policy/authentication/access.ts';
import { retryLater, StoreUnavailable } from '../../policy/contract.ts';
import { assess } from '../../policy/lifecycle/assess.ts';
import type { LedgerStore, UsageRecord } from '../../policy/usage/ledger.ts';
import { countOf, type UsageRow, usageRows } from '../../policy/usage/rows.ts';
import { daysBefore, usageWindow } from '../../policy/usage/window.ts';
import type { Directive, Refusal } from '../directive.ts';
import type { RequestStart } from '../facts.ts';
import type { ExchangePorts } from '../ports.ts';
import type { RequestView } from '../request-view.ts';
import { authenticate } from '../steps/authenticate.ts';
import { entryOf, instantText, type LifecycleEntry, type PublishMoment } from './lifecycle-entry.ts';
import { placeOf } from './places.ts';
import type { Publication } from './publication.ts';

export interface PublishedPage {
  readonly directive: Directive;
  /** The consumer that the page is about. */
  readonly consumer?: Consumer;
}

export function refused(refusal: Refusal): PublishedPage {
  return { directive: { kind: 'refuse', refusal } };
}

interface OwnUsage {
  readonly consumer: string;
  readonly since: string;
  readonly until: string;
  readonly versions: readonly OwnVersion[];
  /** The list is incomplete. */
  readonly more?: true;
}

/** Dates and advice are absent if no policy has this version any more. */
interface OwnVersion extends Partial<LifecycleEntry>, Calls {
  readonly api: string;
  readonly version: string;
  readonly url?: string;
  readonly lifecycle?: string;
  readonly exceptions?: readonly { readonly from: readonly string[]; readonly until: string }[];
  readonly operations: readonly OwnOperation[];
}

interface OwnOperation extends Partial<LifecycleEntry>, Calls {
  /** Null: calls that match no operation of the policy. */
  readonly operation: string | null;
}

interface Calls {
  readonly calls: number;
  readonly last_call: string;
}

/** A quarter, so that monthly callers are included. */
const DAYS = 90;
/** More operations than a consumer calls. `more` says if some are missing. */
const MAX_RECORDS = 1_000;
const RETRY_AFTER_S = 1;

type OwnPorts = Pick<ExchangePorts, 'authenticators' | 'wallClock'> & {
  readonly ledger: Pick<LedgerStore, 'read'>;
};

/**
 * 401 with a challenge without credentials, 503 while the ledger cannot be read.
 * @throws Fault `identity_unavailable` if no key to verify a token is available
 */
export async function ownUsage(
  view: RequestView,
  start: RequestStart,
  ports: OwnPorts,
): Promise<PublishedPage> {
  const authenticating = authenticate(anyIdentity(ports), view, ports);
  const caller = authenticating instanceof Promise ? await authenticating : authenticating;
  if (caller.kind === 'refused') return refused(caller.refusal);
  const { consumer } = caller;
  if (consumer === undefined) return refused({ reason: 'credentials_missing' });
  const since = daysBefore(start.now, DAYS);
  try {
    const { records, more } = await recordsOf(consumer, since, ports.ledger);
    const window = usageWindow(start.now, since);
    const rows = usageRows(records.map((record) => countOf(record, window)));
    const own: OwnUsage = {
      consumer: consumer.id,
      since,
      until: instantText(start.now),
      versions: rows.map((row) => ownVersion(row, start.plan, { ...start, realNow: ports.wallClock() })),
      ...(more && { more }),
    };
    const headers = { ...HEADERS, ...varyOf(ports) };
    const publication: Publication = { status: 200, headers, body: JSON.stringify(own) };
    return { directive: { kind: 'publish', publication }, consumer };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { ...refused(retryLater('usage_unavailable', RETRY_AFTER_S, ports.wallClock())), consumer };
  }
}

/** The page is about one consumer, and all consumers share its URL. Pages of other origins cannot read it. */
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
};

/** CACHE-3: every field that can identify the caller. A certificate has no field, but no cache stores the response. */
function varyOf({ authenticators }: Pick<OwnPorts, 'authenticators'>): Readonly<Record<string, string>> {
  const fields = new Set([...authenticators.values()].flatMap(({ field }) => field ?? []));
  return fields.size === 0 ? {} : { vary: [...fields].join(', ') };
}

function anyIdentity({ authenticators }: Pick<OwnPorts, 'authenticators'>): AccessRule {
  const identities = [...authenticators.keys()];
  return {
    kind: 'identified',
    identities,
    schemes: [],
    anonymous: false,
    vary: '',
    scopes: { read: [], write: [] },
  };
}

/** Filters by `via` too, because an address or an API key may have the same text as a consumer id of a token. */
async function recordsOf(
  { id: consumer, via }: Consumer,
  since: string,
  ledger: Pick<LedgerStore, 'read'>,
): Promise<{ readonly records: readonly UsageRecord[]; readonly more: boolean }> {
  const { records, next } = await ledger.read(
    { consumer, via, since },
    { after: undefined, limit: MAX_RECORDS },
  );
  const more = next !== undefined;
  if (more && records.length < MAX_RECORDS)
    throw new StoreUnavailable('the store is too slow to read all records');
  return { records, more };
}

function ownVersion(row: UsageRow, plan: GatewayPlan, moment: PublishMoment): OwnVersion {
  const api = plan.apiNamed(row.api);
  const planned = api?.versions.get(row.version);
  const calls = callsOf(row);
  if (api === undefined || planned === undefined) {
    const operations = row.operations.map((use) => ({ operation: use.operation ?? null, ...callsOf(use) }));
    return { api: row.api, version: row.version, ...calls, operations };
  }
  const rules = assess(planned, moment);
  const exceptions = rules.exceptions
    .filter(({ consumer, until }) => consumer === row.consumer && moment.now < until)
    .map(({ from, until }) => ({ from, until: instantText(until) }));
  return {
    api: api.name,
    version: rules.label,
    url: placeOf(plan, api, rules.label),
    lifecycle: lifecycleUrl(plan.public, api.name),
    ...entryOf(api, rules, moment),
    ...(exceptions.length > 0 && { exceptions }),
    ...calls,
    operations: row.operations.map((use) => ({
      operation: use.operation ?? null,
      ...datesOf(use.operation, api, rules, moment),
      ...callsOf(use),
    })),
  };
}

/** Empty if the operation has the dates of its version. */
function datesOf(
  operation: string | undefined,
  api: ApiPlan,
  version: VersionRules,
  moment: PublishMoment,
): Partial<LifecycleEntry> {
  const found = version.operations?.list.find((each) => each.operation === operation);
  if (operation === undefined || found === undefined) return {};
  const rules = assess(found, moment);
  const { deprecated, sunset } = version.schedule;
  const isOwn = rules.schedule.deprecated !== deprecated || rules.schedule.sunset !== sunset;
  return isOwn ? entryOf(api, rules, moment, version) : {};
}

function callsOf({ calls, lastAt }: Pick<UsageRow, 'calls' | 'lastAt'>): Calls {
  return { calls, last_call: instantText(lastAt) };
}
