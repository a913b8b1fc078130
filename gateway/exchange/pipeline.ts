// The order in which a request is judged, with the reason for each position. Straight-line code, read top to bottom.
// Everything it calls is pure or a port; `explain` runs the very same function.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import { authorise } from '../policy/authentication/authorise.ts';
import { readBearer } from '../policy/authentication/bearer.ts';
import type { EpochMs } from '../policy/contract.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, retire } from '../policy/lifecycle/retirement.ts';
import { retryAfterSeconds } from '../policy/rate-limit/retry-after.ts';
import { bucketKey } from '../policy/rate-limit/subject.ts';
import { readClaims } from '../policy/versioning/readers.ts';
import type { Label, Standing } from '../policy/versioning/resolution.ts';
import { resolveVersion } from '../policy/versioning/resolve.ts';
import { credentialInQuery } from './credentials-in-url.ts';
import { type Directive, Fault, type Refusal } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';
import { forwardOrder } from './forward-order.ts';
import type { ExchangePorts } from './ports.ts';
import type { RequestView } from './request-view.ts';
import { redirectUrl, successorUrl } from './successor-url.ts';

/**
 * Judges one request against the plan captured in `facts`.
 * @throws Fault `identity_unavailable` when no key could be had to verify a token
 */
export async function decide(
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): Promise<Directive> {
  const { plan, now } = facts;

  // Guard: before anything costly, so that a flood from one address buys nothing but look-ups in one map.
  if (plan.guard !== undefined) {
    const taken = ports.guard(view.clientAddress, plan.guard);
    if (!taken.allowed)
      return refuse({ reason: 'guard_limited', retryAfterSeconds: retryAfterSeconds(taken) });
  }
  // A credential in the URL is refused whatever else is right: it has leaked into logs by now (AUTH-1).
  const leaked = credentialInQuery(view.search, plan.credentialsInUrl);
  if (leaked !== undefined) return refuse({ reason: 'credentials_in_url', parameter: leaked });

  // Route: everything below depends on which API it is.
  const match = plan.routes.match(view.host, view.path);
  if (match === undefined) {
    return refuse({ reason: plan.routes.knowsHost(view.host) ? 'route_unknown' : 'host_unknown' });
  }
  const api = match.route;
  facts.api = api;

  // Version: read from every carrier of the API before any of them is believed (VER-3).
  const claims = readClaims(api.resolution, { pathSegment: match.versionSegment, headers: view.headers });
  const resolution = resolveVersion(api.resolution, claims, standingOf(api, now));
  if (resolution.kind === 'refused') {
    const { refusal } = resolution;
    // Known also when one value alone was refused, so that operators see where wrong versions come in.
    if ('claim' in refusal) facts.carrier = refusal.claim.carrier;
    return refuse(refusal);
  }
  const version = versionOf(api, resolution.label);
  facts.version = version;
  facts.carrier = resolution.carrier;

  // Lifecycle: before authentication, since retirement is public and a client with an old token must learn of it (ORD-3).
  const phase = phaseAt(version.phases, now);
  facts.phase = phase;
  if (phase.linksSuccessor) facts.successorUrl = successorUrl(plan, version, now, match.tail);
  if (hasEnded(phase)) {
    // A version that a header named would be named again after a redirect (RET-5).
    const mayRedirect = claims.every((claim) => claim.carrier === 'path');
    const retirement = retire({
      label: version.label,
      schedule: version.schedule,
      phase,
      method: view.method,
      replacement: facts.successorUrl,
      redirect: mayRedirect ? redirectUrl(plan, version, now, match.tail, view.search) : undefined,
    });
    return refuse(retirement);
  }

  // Identity: after everything that is public, before everything that counts per consumer.
  let consumer: Consumer | undefined;
  const { access } = version;
  if (access.kind === 'token') {
    const bearer = readBearer(view.headers);
    if (bearer.kind === 'refused') return refuse(bearer.refusal);
    const verifier = ports.verifiers.get(access.identity);
    if (verifier === undefined)
      throw new Fault('internal', { cause: new Error('a plan names an identity that is not running') });
    const verified = verifier.verify(bearer.token);
    const outcome = verified instanceof Promise ? await verified : verified;
    if (outcome.kind === 'unavailable') throw new Fault('identity_unavailable');
    if (outcome.kind === 'refused') return refuse(outcome.refusal);
    consumer = outcome.consumer;
    facts.consumer = consumer;
    const denied = authorise(access, view.method, consumer);
    if (denied !== undefined) return refuse(denied);
  }

  // Limits: last of the refusals, so that only requests that would be served are counted per consumer.
  const { limits } = version;
  if (limits !== undefined) {
    const limit = phase.stage === 'deprecated' ? limits.deprecated : limits.active;
    const key = bucketKey({
      api: api.name,
      label: version.label,
      limit: limit.name,
      by: limits.by,
      consumer,
      clientAddress: view.clientAddress,
    });
    const taking = ports.limiter.take({ key, limit, cost: 1 }, limits);
    const quota = taking instanceof Promise ? await taking : taking;
    facts.quota = quota;
    if (quota.kind === 'unavailable') {
      return refuse({
        reason: 'limits_unavailable',
        retryAfterSeconds: 1,
        restoredAt: ports.wallClock() + 1000,
      });
    }
    if (!quota.allowed)
      return refuse({ reason: 'rate_limited', retryAfterSeconds: retryAfterSeconds(quota), limit });
  }

  return forwardOrder(api, version, match.tail, view.search);
}

function refuse(refusal: Refusal): Directive {
  return { kind: 'refuse', refusal };
}

function standingOf(api: ApiPlan, now: EpochMs): Standing {
  const phaseOf = (label: Label) => phaseAt(versionOf(api, label).phases, now);
  const isReleased = (label: Label) => phaseOf(label).stage !== 'planned';
  return { isReleased, isServed: (label) => isReleased(label) && !hasEnded(phaseOf(label)) };
}

function versionOf(api: ApiPlan, label: Label): VersionRules {
  const version = api.versions.get(label);
  if (version === undefined)
    throw new Fault('internal', { cause: new Error(`plan without version ${label}`) });
  return version;
}
