// The order in which a request is judged, with the reason for each position. Straight-line code, read top to bottom.
// Everything it calls is pure or a port; `explain` runs the very same function.
import type { MaybePromise } from '../policy/contract.ts';
import { refuseMaintained } from '../policy/maintenance/maintenance.ts';
import { literalOf } from '../policy/paths/rules.ts';
import {
  first,
  firstAwaited,
  firstEnforced,
  identify,
  refuseBrownedOut,
  refuseForgotten,
  refuseFrozen,
  refuseInBrownout,
  refuseRetired,
  refuseUnauthorised,
  refuseUnexcepted,
  takeLimits,
} from './admission.ts';
import { noticeOrder } from './body-notice.ts';
import { answerPreflight, refuseStranger } from './cors.ts';
import { credentialInQuery } from './credentials-in-url.ts';
import type { Directive, Refusal } from './directive.ts';
import { refuse } from './enforce.ts';
import { type ExchangeFacts, withoutVersion } from './facts.ts';
import { forwardOrder } from './forward-order.ts';
import { refuseFlood } from './guard.ts';
import {
  type JudgedRules,
  judgedRules,
  NO_OTHERS,
  operationsAt,
  otherRules,
  strictest,
} from './judged-rules.ts';
import { awaited, type Judging, settle } from './judging.ts';
import { refuseLeftOut } from './left-out.ts';
import { refuseOverride } from './method-override.ts';
import { doubleSlash, pathReadings } from './path-readings.ts';
import { keepFirstCall } from './pinned-version.ts';
import type { ExchangePorts } from './ports.ts';
import { isKnownHost, publishReserved } from './publish/reserved.ts';
import { tooLarge } from './request-size.ts';
import { refuseSecondVersion } from './request-version.ts';
import type { RequestView } from './request-view.ts';
import { resolvePinned, statedVersion } from './resolve-request.ts';
import { underKey } from './under-key.ts';

/**
 * Judges one request against the plan captured in `facts`; a promise only where a port has to be waited for.
 * Rejects with Fault `identity_unavailable` if no key could be had to verify a token.
 */
export function decide(
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): MaybePromise<Directive> {
  const orRefuse = (flood: Refusal | undefined): MaybePromise<Directive> =>
    flood === undefined ? settle(judge(view, facts, ports)) : refuse(flood);
  // Guard: before anything costly, so that a flood from one address buys nothing but look-ups in one map.
  const guarding = refuseFlood(view.clientAddress, facts.plan, ports);
  return guarding instanceof Promise ? guarding.then(orRefuse) : orRefuse(guarding);
}

/** All behind the guard. A request that is judged again keeps its consumer and what it was counted with. */
function* judge(view: RequestView, facts: ExchangeFacts, ports: ExchangePorts): Judging<Directive> {
  const { plan, now } = facts;

  // A credential in the URL is refused whatever else is right: it has leaked into logs by now (AUTH-1).
  const leaked = credentialInQuery(view.search, plan.credentialsInUrl);
  if (leaked !== undefined) return refuse({ reason: 'credentials_in_url', parameter: leaked });

  // Authority: a host that the certificate of the connection is not for belongs on another one (TLS-4).
  if (view.misdirected)
    return refuse({ reason: isKnownHost(plan, view.host) ? 'misdirected' : 'host_unknown' });

  // Reserved: no API can stand in place of what the gateway publishes, all of it public but for a consumer's own usage.
  const published = publishReserved(plan, view, facts, ports);
  if (published !== undefined) return published instanceof Promise ? yield* awaited(published) : published;

  // Route: everything below depends on which API it is.
  const match = plan.routes.match(view.host, view.path);
  if (match === undefined)
    return refuse({ reason: plan.routes.knowsHost(view.host) ? 'route_unknown' : 'host_unknown' });
  const api = match.route;
  facts.api = api;
  // Left out: no other API may answer at its routes, and none of its own rules is known.
  const closed = refuseLeftOut(api, ports);
  if (closed !== undefined) return refuse(closed);
  // Path: what services read in different ways is refused, or judged by each reading (VER-7).
  const below = plan.routes.below(api);
  const readings = pathReadings(api, match.tail, below !== undefined);
  if ('reason' in readings) return refuse(readings);
  // Method: rules, scopes and limits below go by the request's, so that its service must not take another.
  const overridden = refuseOverride(api, view);
  if (overridden !== undefined) return refuse(overridden);

  // Origin: a browser asks before it sends version or token, so that nothing below may refuse a preflight (ORD-4).
  const preflight = answerPreflight(api, view);
  if (preflight !== undefined) return { kind: 'publish', publication: preflight };
  const stranger = refuseStranger(api, view);
  if (stranger !== undefined) return refuse(stranger);

  // Version: of the API that the path names, and of each nested one that another reading leads to.
  const stated = statedVersion(match, view, facts);
  const resolved = stated.kind === 'open' ? yield* resolvePinned(api, stated, view, facts, ports) : stated;
  if (resolved.kind === 'refused') return refuse(resolved.refusal);
  const { whole } = resolved;
  const ambiguous = doubleSlash(whole, match.tail) ?? refuseSecondVersion(api, whole, view.search);
  if (ambiguous !== undefined) return refuse(ambiguous);
  // Operation: from here on its rules are the version's, with all that it does not say inherited.
  const [named] = operationsAt(whole, view.method, readings[0] && literalOf(readings[0]));
  const own = judgedRules({ match, resolved, ...named }, view, facts);
  const reached =
    readings.length === 0
      ? NO_OTHERS
      : yield* otherRules(named.rules, { match, resolved, readings, below }, view, facts, ports);
  if (reached.kind === 'refused') {
    facts.refusedBy = reached.by;
    return refuse(reached.refusal);
  }
  // Each step asks all of them before the next step begins: the first refusal is that of the earliest step.
  const judged: readonly [JudgedRules, ...JudgedRules[]] =
    reached.others.length === 0 ? [own] : [own, ...reached.others];
  facts.others = reached.others.map((each) => each.facts);
  facts.sparesSome ||= reached.others.some(
    ({ version: { access } }) => access.kind === 'identified' && access !== own.version.access,
  );

  // Lifecycle: before authentication, since retirement is public and a client with an old token must learn of it (ORD-3).
  // A rule that looks at the consumer lets the same answer wait until the consumer is known.
  const forgotten = firstEnforced(judged, refuseForgotten);
  if (forgotten !== undefined) {
    // The answer is that of a path which no API has.
    facts.phase = undefined;
    return forgotten;
  }
  const retired = firstEnforced(judged, refuseRetired);
  if (retired !== undefined) return retired;
  // Brownout: as public as retirement, and like it later where only some callers meet it (ORD-3).
  const pausing = firstEnforced(judged, refuseInBrownout);
  if (pausing !== undefined) return pausing;

  // Maintenance: behind lifecycle, since what has ended does not come back, and before a caller is identified, counted or
  // forwarded for a service that cannot answer. Refused also where the API is only observed: that is about dates and limits.
  const maintained = first(judged, ({ version }) => refuseMaintained(version.maintenance, ports.wallClock()));
  if (maintained !== undefined) return maintained;

  // Identity: after everything that is public, before everything that counts per consumer.
  const identifying = firstAwaited(judged, (each) => identify(each, own, view, ports));
  const unidentified = identifying instanceof Promise ? yield* awaited(identifying) : identifying;
  if (unidentified !== undefined) return unidentified;
  // Known by other rules of this API: keys of requests are then this caller's, and so are identity headers.
  facts.consumer ??= reached.others.find((each) => each.api === api)?.facts.consumer;

  // Lifecycle again, now that the consumer is known.
  const ended = firstEnforced(judged, refuseUnexcepted);
  if (ended !== undefined) return ended;
  const paused = firstEnforced(judged, (each) => refuseBrownedOut(each, view.clientAddress));
  if (paused !== undefined) return paused;

  // Freeze: last of the lifecycle, since it alone may ask the store, and before scopes: they do not matter to a newcomer.
  const freezing = firstAwaited(judged, (each) => refuseFrozen(each, ports));
  const frozen = freezing instanceof Promise ? yield* awaited(freezing) : freezing;
  if (frozen !== undefined) return frozen;

  const denied = first(judged, (each) => refuseUnauthorised(each, view.method));
  if (denied !== undefined) return denied;

  // Size: by what the request says of itself, before the client is asked for its body (FWD-10, SMG-24).
  const oversized = first(judged, ({ version }) => tooLarge(version, view));
  if (oversized !== undefined) return oversized;

  // Place of another: whatever goes on here goes by the headers, dates and limits of this version, and not by those of the
  // nested API or of the version inside its path.
  if (reached.misread !== undefined) {
    const { api: meant, refusal } = reached.misread;
    if (meant !== api) facts.refusedBy = { ...facts, api: meant, version: undefined };
    return refuse(refusal);
  }

  // Limits: last of the refusals, so that only requests that would be served are counted per consumer.
  const limiting = takeLimits(judged, own, view, ports);
  const limited = limiting instanceof Promise ? yield* awaited(limiting) : limiting;
  if (limited !== undefined) return limited;

  // First call: kept behind the last refusal that looks at the caller, since who was never let in is pinned to nothing.
  if (resolved.firstCall !== undefined) {
    const kept = yield* awaited(keepFirstCall(resolved.firstCall, now, ports));
    if (kept.kind === 'refused') return refuse(kept.refusal);
    // Another call of the account came first, elsewhere: the version it got is judged instead, by now as the pin.
    if (kept.label !== resolved.label) return yield* judge(view, withoutVersion(facts), ports);
  }

  // Body notice: refuses last but one, so that a condition is judged only for a request that would be served.
  const noticed = noticeOrder(api, whole, facts, own.resource, view);
  if (noticed !== undefined && 'reason' in noticed) return refuse(noticed);
  const rules = strictest(judged, view.method);
  const order = forwardOrder(api, rules, match.tail, view, plan.public, noticed, facts.consumer);

  // Idempotency: last, so that a corrected request may come with the same key (IDM-9), and that a replay counts (IDM-8).
  const { idempotency: keys } = rules;
  return keys === undefined ? order : yield* underKey(order.forward, keys, { match, view, facts, ports });
}
