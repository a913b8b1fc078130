// The reserved paths on every known host: the catalog, lifecycle pages, identity metadata and own usage.
import type { ApiPlan, GatewayPlan } from '../../plan/plan.ts';
import { API_CATALOG, LIFECYCLE, lifecycleUrl, OWN_USAGE } from '../../plan/routes/reserved-paths.ts';
import type { EpochMs, MaybePromise } from '../../policy/contract.ts';
import { lastChanges } from '../../policy/lifecycle/announcement-changes.ts';
import type { StageInput } from '../../policy/lifecycle/assess.ts';
import { lifecycleEvents, renderCalendar } from '../../policy/lifecycle/calendar.ts';
import { milestonesOf, nextMilestone } from '../../policy/lifecycle/milestones.ts';
import { preferredType } from '../../policy/versioning/accept.ts';
import { everyScheme } from '../answers/challenge.ts';
import type { RequestStart } from '../facts.ts';
import type { ExchangePorts } from '../ports.ts';
import type { RequestView } from '../request-view.ts';
import { catalogPage } from './catalog.ts';
import { knownLives, lifecycleDocument } from './lifecycle-document.ts';
import { lifecycleFeed } from './lifecycle-feed.ts';
import { lifecycleHtml, PAGE_POLICY } from './lifecycle-html.ts';
import { ownUsage, type PublishedPage, refused } from './own-usage.ts';
import { changesIn, hasLifecycle, maintenanceEndsIn } from './places.ts';
import { protectedResourcePage } from './protected-resource.ts';
import { type Publication, page } from './publication.ts';

export const WELL_KNOWN = '/.well-known/';
const READABLE = 'GET, HEAD';

/** Undefined for paths that are not reserved. A reserved path without a page gets 404. */
export function publishReserved(
  plan: GatewayPlan,
  view: RequestView,
  start: RequestStart,
  ports: Pick<ExchangePorts, 'wallClock' | 'authenticators' | 'ledger'>,
): MaybePromise<PublishedPage> | undefined {
  if (!isKnownHost(plan, view.host)) return undefined;
  const found = pageAt(view.path, plan, view, start, ports);
  if (found === undefined) return undefined;
  if (found === 'absent') return refused({ reason: 'route_unknown' });
  if (view.method !== 'GET' && view.method !== 'HEAD')
    return refused({ reason: 'method_not_allowed', allowed: READABLE });
  return found();
}

function pageAt(
  path: string,
  plan: GatewayPlan,
  view: RequestView,
  start: RequestStart,
  ports: Pick<ExchangePorts, 'wallClock' | 'authenticators' | 'ledger'>,
): (() => MaybePromise<PublishedPage>) | 'absent' | undefined {
  const published = (made: () => Publication) => (): PublishedPage => ({
    directive: { kind: 'publish', publication: made() },
  });
  if (path === API_CATALOG) return published(() => catalogPage(plan, start, view));
  if (path === OWN_USAGE) return ownUsagePage(view, start, ports);
  const found = lifecyclePage(plan, view, start, ports.wallClock) ?? protectedResourcePage(plan, view);
  return typeof found === 'function' ? published(found) : found;
}

/** Links use the public host, even if no API is served there. */
export function isKnownHost(plan: GatewayPlan, host: string): boolean {
  return plan.routes.knowsHost(host) || new URL(plan.public).hostname === host;
}

function ownUsagePage(
  view: RequestView,
  start: RequestStart,
  { ledger, ...ports }: Pick<ExchangePorts, 'wallClock' | 'authenticators' | 'ledger'>,
): (() => Promise<PublishedPage>) | 'absent' {
  // Without an API that authenticates, no caller has a consumer, and a 401 would have no challenge (AUTH-2).
  const isAnonymous = ports.authenticators.size === 0 || everyScheme(start.plan).length === 0;
  if (ledger === undefined || isAnonymous) return 'absent';
  return () => ownUsage(view, start, { ...ports, ledger });
}

function lifecyclePage(
  plan: GatewayPlan,
  view: RequestView,
  moment: StageInput,
  wallClock: () => EpochMs,
): (() => Publication) | 'absent' | undefined {
  const { path } = view;
  if (path !== LIFECYCLE && !path.startsWith(`${LIFECYCLE}/`)) return undefined;
  const [, name = '', form] = /^\/([a-z][a-z0-9-]*)(\.ics|\.atom)?$/.exec(path.slice(LIFECYCLE.length)) ?? [];
  const api = plan.apiNamed(name);
  if (api === undefined || !hasLifecycle(api, moment)) return 'absent';
  if (form === undefined) return () => documentPage(plan, api, view, moment, wallClock());
  return () => (form === '.ics' ? calendarPage : feedPage)(plan, api, view, moment);
}

function documentPage(
  plan: GatewayPlan,
  api: ApiPlan,
  view: RequestView,
  moment: StageInput,
  realNow: EpochMs,
): Publication {
  const document = lifecycleDocument(plan, api, moment, realNow);
  const type = preferredType(view.headers.get('accept'), ['application/json', 'text/html']);
  const headers = { 'content-type': `${type}; charset=utf-8`, vary: 'Accept' };
  const until = Math.min(changesIn([api], moment), announcesIn(api, moment), maintenanceEndsIn(api, realNow));
  if (type === 'application/json') return page(JSON.stringify(document), headers, view.headers, until);
  const guarded = { ...headers, 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' };
  return page(lifecycleHtml(document, api.guides), guarded, view.headers, until);
}

function calendarPage(plan: GatewayPlan, api: ApiPlan, view: RequestView, moment: StageInput): Publication {
  const { now } = moment;
  const versions = new Map(knownLives(api, moment).map((life) => [life.label, life]));
  const body = renderCalendar(lifecycleEvents([{ versions }], now), {
    name: `Lifecycle of ${api.name}`,
    host: new URL(plan.public).hostname,
    now,
  });
  const headers = { 'content-type': 'text/calendar; charset=utf-8' };
  return page(body, headers, view.headers, changesIn([api], moment));
}

function feedPage(plan: GatewayPlan, api: ApiPlan, view: RequestView, moment: StageInput): Publication {
  const url = lifecycleUrl(plan.public, api.name);
  const body = lifecycleFeed(milestonesOf(knownLives(api, moment), moment.now), {
    ...{ api: api.name, page: url, feed: `${url}.atom`, now: moment.now },
    changedAt: lastChanges(api.versions.values(), moment.now),
  });
  const headers = { 'content-type': 'application/atom+xml; charset=utf-8' };
  return page(body, headers, view.headers, Math.min(changesIn([api], moment), announcesIn(api, moment)));
}

/** Milliseconds until the next changelog entry, or `Infinity`. */
function announcesIn(api: ApiPlan, moment: StageInput): number {
  return nextMilestone(knownLives(api, moment), moment.now) - moment.now;
}
