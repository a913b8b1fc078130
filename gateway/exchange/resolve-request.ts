// From a route to the version of its API that a request means; authenticates the caller if the account decides.
// Called for the API that the path names, and for each nested API that another reading leads to.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import type { Carrier, Evidence, Label, OpenResolution } from '../policy/versioning/resolution.ts';
import { authenticate } from './authenticate.ts';
import { refusedCarrier } from './carrier-status.ts';
import type { Refusal } from './directive.ts';
import { requestedVersion } from './echo.ts';
import type { ExchangeFacts } from './facts.ts';
import { awaited, type Judging } from './judging.ts';
import { type FirstCall, type Pinned, pinnedVersion } from './pinned-version.ts';
import type { ExchangePorts } from './ports.ts';
import { evidenceOf, resolutionOf, versionOf } from './request-version.ts';
import type { RequestView } from './request-view.ts';

export interface ResolvedRequest {
  readonly kind: 'resolved';
  readonly whole: VersionRules;
  readonly label: Label;
  readonly carrier: Carrier;
  readonly evidence: Evidence;
  /** Stored once no rule refuses the request. */
  readonly firstCall: FirstCall | undefined;
}

type Resolved = ResolvedRequest | { readonly kind: 'refused'; readonly refusal: Refusal };

/** What the request itself says: a version, a refusal of it, or nothing; then `resolvePinned` finds the version. */
export function statedVersion(
  match: RouteMatch<ApiPlan>,
  view: RequestView,
  facts: ExchangeFacts,
): Resolved | { readonly kind: 'open'; readonly open: OpenResolution; readonly evidence: Evidence } {
  const api = match.route;
  // All carriers of the API are read before one of them decides (VER-3).
  const evidence = evidenceOf(match, view);
  if (api.echo) facts.requested = requestedVersion(evidence);
  const named = resolutionOf(api, evidence, facts);
  if (named.kind === 'open') return { kind: 'open', open: named, evidence };
  return resolvedAs(api, named, evidence, facts);
}

/** The request names no version: the account of the caller decides, so the caller is authenticated first (VER-3). */
export function* resolvePinned(
  api: ApiPlan,
  { open, evidence }: { readonly open: OpenResolution; readonly evidence: Evidence },
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): Judging<Resolved> {
  facts.carrier = 'pin';
  facts.perAccount = true;
  if (facts.consumer === undefined) {
    const authenticating = authenticate(api.access, view, ports);
    const caller = authenticating instanceof Promise ? yield* awaited(authenticating) : authenticating;
    if (caller.kind === 'refused') return caller;
    facts.consumer = caller.consumer;
  }
  return resolvedAs(api, yield* pinnedVersion(api, open, facts.consumer, facts, ports), evidence, facts);
}

function resolvedAs(api: ApiPlan, named: Pinned, evidence: Evidence, facts: ExchangeFacts): Resolved {
  if (named.kind === 'refused') {
    facts.carrier = refusedCarrier(named.refusal) ?? facts.carrier;
    return named;
  }
  const { label, carrier, firstCall } = named;
  facts.carrier = carrier;
  return { kind: 'resolved', whole: versionOf(api, label), label, carrier, evidence, firstCall };
}
