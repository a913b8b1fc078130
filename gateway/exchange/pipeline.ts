// The order in which a request is judged, with the reason for each position. Straight-line code, read top to bottom.
// Everything it calls is pure or a port; `explain` runs the very same function.
import { authorise } from '../policy/authentication/authorise.ts';
import { assess } from '../policy/lifecycle/assess.ts';
import { brownOut, looksAtCaller, meetsBrownout } from '../policy/lifecycle/brownout-refusal.ts';
import { leaveFrom, someoneMayPass } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, isForgotten } from '../policy/lifecycle/retirement.ts';
import { refuseMaintained } from '../policy/maintenance/maintenance.ts';
import { isNamedByPlace } from '../policy/versioning/readers.ts';
import { authenticate } from './authenticate.ts';
import { noticeOrder } from './body-notice.ts';
import { refusedCarrier } from './carrier-status.ts';
import { answerPreflight, refuseStranger } from './cors.ts';
import { credentialInQuery } from './credentials-in-url.ts';
import type { Directive, Refusal } from './directive.ts';
import { requestedVersion } from './echo.ts';
import { encodedSlash } from './encoded-slash.ts';
import { enforce, observe, refuse } from './enforce.ts';
import { type ExchangeFacts, withoutVersion } from './facts.ts';
import { forwardOrder } from './forward-order.ts';
import { refuseFlood } from './guard.ts';
import { limitRefusal, partsOf } from './limit-of.ts';
import { refuseNewcomer } from './newcomer.ts';
import { keepFirstCall, type Pinned, pinnedVersion } from './pinned-version.ts';
import type { ExchangePorts } from './ports.ts';
import { isKnownHost, publishReserved } from './publish/reserved.ts';
import { tooLarge } from './request-size.ts';
import { evidenceOf, resolutionOf, versionOf } from './request-version.ts';
import type { RequestView } from './request-view.ts';
import { refuseEnded } from './retirement-answer.ts';
import { NO_CAPTURES, noteLinks, type Resource } from './successor-url.ts';
import { underKey } from './under-key.ts';

/**
 * Judges one request against the plan captured in `facts`.
 * @throws Fault `identity_unavailable` when no key could be had to verify a token
 */
export function decide(view: RequestView, facts: ExchangeFacts, ports: ExchangePorts): Promise<Directive> {
  const orRefuse = (flood: Refusal | undefined): Promise<Directive> =>
    flood === undefined ? judge(view, facts, ports) : Promise.resolve(refuse(flood));
  // Guard: before anything costly, so that a flood from one address buys nothing but look-ups in one map.
  const guarding = refuseFlood(view.clientAddress, facts.plan, ports);
  // Nearly always known at once: one promise per request is enough.
  return guarding instanceof Promise ? guarding.then(orRefuse) : orRefuse(guarding);
}

/** All behind the guard. A request that is judged again keeps its consumer and what it was counted with. */
async function judge(view: RequestView, facts: ExchangeFacts, ports: ExchangePorts): Promise<Directive> {
  const { plan, now } = facts;

  // A credential in the URL is refused whatever else is right: it has leaked into logs by now (AUTH-1).
  const leaked = credentialInQuery(view.search, plan.credentialsInUrl);
  if (leaked !== undefined) return refuse({ reason: 'credentials_in_url', parameter: leaked });

  // Authority: a host that the certificate of the connection is not for belongs on another one (TLS-4).
  if (view.misdirected)
    return refuse({ reason: isKnownHost(plan, view.host) ? 'misdirected' : 'host_unknown' });

  // Reserved: no API can stand in place of what the gateway publishes, all of it public but for a consumer's own usage.
  const published = publishReserved(plan, view, facts, ports);
  if (published !== undefined) return published;

  // Route: everything below depends on which API it is.
  const match = plan.routes.match(view.host, view.path);
  if (match === undefined)
    return refuse({ reason: plan.routes.knowsHost(view.host) ? 'route_unknown' : 'host_unknown' });
  const api = match.route;
  facts.api = api;
  const slash = encodedSlash(api, match.tail);
  if (slash !== undefined) return refuse(slash);

  // Origin: a browser asks before it sends version or token, so that nothing below may refuse a preflight (ORD-4).
  const preflight = answerPreflight(api, view);
  if (preflight !== undefined) return { kind: 'publish', publication: preflight };
  const stranger = refuseStranger(api, view);
  if (stranger !== undefined) return refuse(stranger);

  // Version: read from every carrier of the API before any of them is believed (VER-3).
  const evidence = evidenceOf(match, view);
  if (api.echo) facts.requested = requestedVersion(evidence);
  const named = resolutionOf(api, evidence, facts);
  // Pin: nothing names a version, so that the account decides, for which it must be known who calls (VER-3).
  let { consumer } = facts;
  if (named.kind === 'open') {
    facts.carrier = 'pin';
    facts.perAccount = true;
    if (consumer === undefined) {
      const asked = authenticate(api.access, view, ports);
      const caller = asked instanceof Promise ? await asked : asked;
      if (caller.kind === 'refused') return refuse(caller.refusal);
      consumer = caller.consumer;
      facts.consumer = consumer;
    }
  }
  const resolution: Pinned =
    named.kind === 'open' ? await pinnedVersion(api, named, consumer, facts, ports) : named;
  if (resolution.kind === 'refused') {
    facts.carrier = refusedCarrier(resolution.refusal) ?? facts.carrier;
    return refuse(resolution.refusal);
  }
  const whole = versionOf(api, resolution.label);
  facts.carrier = resolution.carrier;
  // Operation: from here on its rules are the version's, with all that it does not say inherited.
  const operation = whole.operations?.match(view.method, match.tail);
  const version = assess(operation?.rules ?? whole, facts);
  facts.version = version;
  if (isForgotten(version.schedule, now)) {
    // Of versions only an observed one gets here; an API without any is resolved without being asked for.
    const isWhole = resolution.carrier === 'unversioned';
    if (!isWhole) observe(facts, 'version_unknown');
    const answer = isWhole ? enforce(api, version, facts, { reason: 'route_unknown' }) : undefined;
    if (answer !== undefined) return answer;
  }

  // Lifecycle: before authentication, since retirement is public and a client with an old token must learn of it (ORD-3).
  // A rule that looks at the consumer lets the same answer wait until the consumer is known.
  const phase = phaseAt(version.phases, now);
  facts.phase = phase;
  const resource: Resource = {
    method: view.method,
    tail: match.tail,
    captures: operation?.captures ?? NO_CAPTURES,
    search: view.search,
    // A version that a header named would be named again after a redirect (RET-5).
    byPathAlone: isNamedByPlace(evidence),
  };
  noteLinks(facts, api, version, phase, resource);
  const ended = hasEnded(phase);
  const mayPass =
    ended && version.access.kind === 'identified' && someoneMayPass('sunset', version.exceptions, now);
  const retirement = (): Refusal => refuseEnded(api, version, phase, facts, resource);
  if (ended && !mayPass) {
    const answer = enforce(api, version, facts, retirement());
    if (answer !== undefined) return answer;
  }
  // Brownout: as public as retirement, and like it later where only some callers meet it (ORD-3).
  const window = version.brownouts?.at(now);
  const brownout = window && brownOut(version, window, now, facts.successor);
  const choosy = window !== undefined && looksAtCaller(window, version, now);
  facts.sparesSome = mayPass || choosy;
  if (brownout !== undefined && !choosy) {
    const answer = enforce(api, version, facts, brownout);
    if (answer !== undefined) return answer;
  }

  // Maintenance: behind lifecycle, since what has ended does not come back, and before anybody is identified, counted or
  // forwarded for a service that cannot answer. Refused also where the API is only observed: that is about dates and limits.
  const maintained = refuseMaintained(version.maintenance, ports.wallClock());
  if (maintained !== undefined) return refuse(maintained);

  // Identity: after everything that is public, before everything that counts per consumer.
  const { access } = version;
  if (consumer === undefined) {
    const asked = authenticate(access, view, ports);
    const caller = asked instanceof Promise ? await asked : asked;
    if (caller.kind === 'refused') return refuse(caller.refusal);
    consumer = caller.consumer;
    facts.consumer = consumer;
  }

  // Lifecycle again, now that the consumer is known: with leave from the sunset, its own date stands for the version's.
  const leave = leaveFrom('sunset', version.exceptions, consumer, now);
  if (leave !== undefined) facts.phase = phaseAt(leave.phases, now);
  else if (mayPass) {
    const answer = enforce(api, version, facts, retirement());
    if (answer !== undefined) return answer;
  }

  if (window !== undefined && brownout !== undefined && choosy) {
    const caller = { consumer, clientAddress: view.clientAddress };
    const answer = meetsBrownout(window, version, now, caller) && enforce(api, version, facts, brownout);
    if (answer) return answer;
  }

  // Freeze: last of the lifecycle, since it alone may ask the store, and before scopes: they are no matter for a newcomer.
  if (version.freeze !== undefined) {
    const asked = refuseNewcomer(version, consumer, facts, ports);
    const refusal = asked instanceof Promise ? await asked : asked;
    const answer = refusal && enforce(api, version, facts, refusal);
    if (answer !== undefined) return answer;
  }

  const denied = access.kind === 'identified' ? authorise(access, view.method, consumer) : undefined;
  if (denied !== undefined) return refuse(denied);

  // Size: by what the request says of itself, before the client is asked for its body (FWD-10, SMG-24).
  const oversized = tooLarge(version, view);
  if (oversized !== undefined) return refuse(oversized);

  // Limits: last of the refusals, so that only requests that would be served are counted per consumer.
  if (version.limits !== undefined) {
    const taking =
      facts.quotas ??
      ports.limiter.take(partsOf(version, version.limits, consumer, view.clientAddress, facts));
    // A lease answers at once.
    facts.quotas = taking instanceof Promise ? await taking : taking;
    const refusal = limitRefusal(facts.quotas, ports.wallClock);
    const answer = refusal && enforce(api, version, facts, refusal);
    if (answer !== undefined) return answer;
  }

  // First call: kept behind the last refusal that looks at the caller, since who was never let in is pinned to nothing.
  if (resolution.firstCall !== undefined) {
    const kept = await keepFirstCall(resolution.firstCall, now, ports);
    if (kept.kind === 'refused') return refuse(kept.refusal);
    // Another call of the account came first, elsewhere: the version it got is judged instead, by now as the pin.
    if (kept.label !== resolution.label) return judge(view, withoutVersion(facts), ports);
  }

  // Body notice: refuses last but one, so that a condition is judged only for a request that would be served.
  const noticed = noticeOrder(api, whole, facts, resource, view);
  if (noticed !== undefined && 'reason' in noticed) return refuse(noticed);
  const order = forwardOrder(api, version, match.tail, view, plan.public, noticed, consumer);

  // Idempotency: last, so that a corrected request may come with the same key (IDM-9), and that a replay counts (IDM-8).
  const { idempotency: keys } = version;
  return keys === undefined ? order : underKey(order.forward, keys, { match, view, facts, ports });
}
