// The order in which a request is judged, with the reason for each position: straight-line code, from top to bottom.
import { isForgotten } from '../policy/lifecycle/retirement.ts';
import { literalOf } from '../policy/paths/rules.ts';
import { requestedVersion } from './answers/echo.ts';
import type { Directive } from './directive.ts';
import { type Completion, type Deciding, NO_VERSION, recordRules } from './facts.ts';
import { awaited, type Judging } from './ports.ts';
import { isKnownHost, publishReserved, WELL_KNOWN } from './publish/reserved.ts';
import {
  type AllRules,
  callerOf,
  differsByCaller,
  enforceBy,
  firstRefusal,
  refuse,
  refuseBrownedOut,
  refuseBy,
  refuseForgotten,
  refuseFrozen,
  refuseInBrownout,
  refuseInMaintenance,
  refuseOversized,
  refuseRetired,
  refuseUnauthorised,
  refuseUnexcepted,
  type StepInput,
} from './steps/admission.ts';
import { credentialInQuery } from './steps/authenticate.ts';
import { noticeOrder } from './steps/body-notice.ts';
import { answerPreflight, refuseOrigin } from './steps/cors.ts';
import { forwardOrder, strictest } from './steps/forward-order.ts';
import { claimThenForward } from './steps/idempotency.ts';
import { judgedRules, NO_OTHER_RULES, otherRules, withConsumer } from './steps/judged-rules.ts';
import { pathReadings, refuseMisreadTarget, refuseOverride } from './steps/misreadings.ts';
import { keepFirstCall } from './steps/pinned-version.ts';
import { limitRefusal, partsOfAll, shownQuotas } from './steps/rate-limit.ts';
import { accountOf, operationsAt, refuseLeftOut, resolvePinned, statedVersion } from './steps/resolution.ts';

export function* judge(request: StepInput, decision: Deciding, completion: Completion): Judging<Directive> {
  const { view, start, ports } = request;
  const { plan, now } = start;

  // Credentials in the URL come first: the URL is already in logs, so the credential has leaked (AUTH-1).
  const leaked = credentialInQuery(view.search, plan.credentialsInUrl);
  if (leaked !== undefined) return refuse({ reason: 'credentials_in_url', parameter: leaked });

  // Authority: if the certificate of the connection does not cover the host, the client needs another connection
  // (TLS-4).
  if (view.misdirected)
    return refuse({ reason: isKnownHost(plan, view.host) ? 'misdirected' : 'host_unknown' });

  // Reserved paths: no API can replace what the gateway publishes. All of it is public, except a consumer's own usage.
  const publishing = view.path.startsWith(WELL_KNOWN) ? publishReserved(plan, view, start, ports) : undefined;
  const published = publishing instanceof Promise ? yield* awaited(publishing) : publishing;
  if (published !== undefined) {
    decision.consumer = published.consumer;
    return published.directive;
  }

  // Route: every step below depends on the API.
  const match = plan.routes.match(view.host, view.path);
  if (match === undefined)
    return refuse({ reason: plan.routes.knowsHost(view.host) ? 'route_unknown' : 'host_unknown' });
  const api = match.route;
  decision.api = api;
  // Left out: no other API may answer at these routes, and the rules of this API are unknown.
  const closed = refuseLeftOut(api, ports);
  if (closed !== undefined) return refuse(closed);
  // Path: if services read the path in different ways, it is refused or judged by each reading (VER-7).
  const below = plan.routes.below(api);
  const readings = pathReadings(api, match.tail, below !== undefined);
  if ('reason' in readings) return refuse(readings);
  // Method: rules, scopes and limits use the request method, so the service must not apply another one.
  const overridden = refuseOverride(api, view);
  if (overridden !== undefined) return refuse(overridden);

  // Origin: a browser sends a preflight without version or token, so no step below may refuse it (ORD-4).
  const preflight = api.cors && answerPreflight(api, view);
  if (preflight !== undefined) return { kind: 'publish', publication: preflight };
  const foreign = api.cors && refuseOrigin(api, view);
  if (foreign !== undefined) return refuse(foreign);

  // Version: of the API that the path names, and of each nested API that another reading reaches.
  const stated = statedVersion(match, view, start);
  if (api.echo) decision.requested = requestedVersion(stated.evidence);
  if (stated.kind === 'open') {
    Object.assign(decision, { carrier: 'pin', perAccount: true });
    const account = yield* accountOf(api, decision.consumer, view, ports);
    if (account.kind === 'refused') return refuse(account.refusal);
    decision.consumer = account.consumer;
  }
  const resolved =
    stated.kind === 'open' ? yield* resolvePinned(api, stated, decision.consumer, start, ports) : stated;
  decision.carrier = resolved.carrier ?? decision.carrier;
  if (resolved.kind === 'refused') return refuse(resolved.refusal);
  const { whole } = resolved;
  const ambiguous = refuseMisreadTarget(api, whole, match.tail, view.search);
  if (ambiguous !== undefined) return refuse(ambiguous);
  // Operation: from here on its rules apply. What it does not set, it inherits from the version.
  const [named] = operationsAt(whole, view.method, readings[0] && literalOf(readings[0]));
  const own = judgedRules({ match, resolved, rules: named.rules, captures: named.captures }, view, start);
  recordRules(own, decision);
  const reached =
    readings.length === 0
      ? NO_OTHER_RULES
      : yield* otherRules(named.rules, { match, resolved, readings, below }, view, start, ports);
  if (reached.kind === 'refused') {
    decision.refusedBy = { ...decision, version: undefined, consumer: undefined, ...reached.by };
    return refuse(reached.refusal);
  }
  // Each step checks all rules before the next step begins, so the refusal is that of the earliest step.
  const judged: AllRules = reached.others.length === 0 ? [own] : [own, ...reached.others];
  if (judged.length > 1) {
    decision.others = reached.others.map((each) => recordRules(each, { ...decision }));
    decision.differsByCaller ||= differsByCaller(judged);
  }

  // Lifecycle: before authentication, because a client with an expired token must learn of a retirement, which is
  // public (ORD-3). If a rule depends on the consumer, the refusal waits until the consumer is known.
  const forgotten = firstRefusal(judged, refuseForgotten, request, decision, enforceBy);
  if (forgotten !== undefined) {
    // The response is that of a path without an API.
    decision.phase = undefined;
    return forgotten;
  }
  if (own.carrier !== 'unversioned' && isForgotten(own.version.schedule, now))
    decision.observed ??= 'version_unknown';
  const retired = firstRefusal(judged, refuseRetired, request, decision, enforceBy);
  if (retired !== undefined) return retired;
  // Brownout: as public as retirement. It also waits if it applies to some callers only (ORD-3).
  const pausing = firstRefusal(judged, refuseInBrownout, request, decision, enforceBy);
  if (pausing !== undefined) return pausing;

  // Maintenance: after lifecycle, because an ended version does not come back. Before identity, limits and forwarding,
  // because the service cannot answer. Also in `mode: observe`, which is about dates and limits.
  const maintained = firstRefusal(judged, refuseInMaintenance, request, decision);
  if (maintained !== undefined) return maintained;

  // Identity: after every public refusal, before every count per consumer.
  for (let at = 0; at < judged.length; at += 1) {
    const each = judged[at] ?? own;
    const identifying = callerOf(each, own, judged[0].consumer, request);
    const caller = identifying instanceof Promise ? yield* awaited(identifying) : identifying;
    if (caller.kind === 'refused') return refuseBy(each, judged, caller.refusal, decision);
    judged[at] = withConsumer(each, caller.consumer, now);
    decision.consumer = judged[0].consumer;
  }
  // If other rules of this API identified the caller, idempotency keys and identity headers use that consumer.
  const others = judged.length > 1 ? judged.slice(1) : reached.others;
  decision.consumer ??= others.find((each) => each.api === api)?.consumer;
  judged[0] = withConsumer(judged[0], decision.consumer, now);
  decision.phase = judged[0].phase;
  if (others.length > 0) decision.others = others.map((each) => recordRules(each, { ...decision }));

  // Lifecycle again, with the consumer.
  const ended = firstRefusal(judged, refuseUnexcepted, request, decision, enforceBy);
  if (ended !== undefined) return ended;
  const paused = firstRefusal(judged, refuseBrownedOut, request, decision, enforceBy);
  if (paused !== undefined) return paused;

  // Freeze: last of the lifecycle steps, because it may query the store. Before scopes, which do not matter here.
  for (const each of judged) {
    const freezing = refuseFrozen(each, request);
    const closed = freezing instanceof Promise ? yield* awaited(freezing) : freezing;
    const frozen = closed && enforceBy(each, judged, closed, decision);
    if (frozen !== undefined) return frozen;
  }

  const denied = firstRefusal(judged, refuseUnauthorised, request, decision);
  if (denied !== undefined) return denied;

  // Size: by Content-Length, before the gateway asks the client for the body (FWD-10, SMG-24).
  const oversized = firstRefusal(judged, refuseOversized, request, decision);
  if (oversized !== undefined) return oversized;

  // Misread path: refused, because the service may read a nested API or another version in the path, while the headers,
  // dates and limits would be those of this version.
  if (reached.misread !== undefined) {
    const { api: intended, refusal } = reached.misread;
    if (intended !== api) decision.refusedBy = { ...decision, api: intended, version: undefined };
    return refuse(refusal);
  }

  // Limits: late, so that only requests that would be served count against a consumer.
  const { own: ownParts, all: parts } = partsOfAll(judged, request);
  if (parts.length > 0) {
    // A request that is judged again is already counted. A lease returns its quotas without a promise.
    const taking = decision.quotas ?? ports.limiter.take(parts);
    decision.quotas = taking instanceof Promise ? yield* awaited(taking) : taking;
    const refusal = limitRefusal(decision.quotas, ports.wallClock);
    const limited = refusal && enforceBy(judged[0], judged, refusal, decision);
    if (limited !== undefined) return limited;
    decision.quotas = shownQuotas(decision.quotas, parts, ownParts.length);
  }

  // First call: after the last refusal that depends on the caller, so a refused caller gets no pin.
  if (resolved.firstCall !== undefined) {
    const kept = yield* awaited(keepFirstCall(resolved.firstCall, now, ports));
    if (kept.kind === 'refused') return refuse(kept.refusal);
    // Another process stored a first call of this account earlier: its version is the pin now.
    if (kept.label !== resolved.label)
      return yield* judge(request, Object.assign(decision, NO_VERSION), completion);
  }

  // Body notice: near the end, so that a condition is evaluated only for a request that would be served.
  const mayNotice = api.hasBodyNotice || api.shared;
  const noticed = mayNotice
    ? noticeOrder(whole, judged[0], decision.differsByCaller, start, view)
    : undefined;
  if (noticed !== undefined && 'reason' in noticed) return refuse(noticed);
  const rules = strictest(judged, view.method);
  const order = forwardOrder(api, rules, match.tail, view, plan.public, noticed, decision.consumer);

  // Idempotency: last, so that a corrected request may use the same key (IDM-9) and a replay is counted (IDM-8).
  const { idempotency: keys } = rules;
  if (keys === undefined) return order;
  const facts = { start, decision, completion };
  return yield* claimThenForward(order.forward, keys, { match, view, facts, ports });
}
