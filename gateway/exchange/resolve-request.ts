// From a route to the version of its API that a request means; authenticates the caller if the account decides.
// Called for the API that the path names, and for each nested API that another reading leads to.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import type { MaybePromise } from '../policy/contract.ts';
import type { Carrier, Evidence, Label, OpenResolution } from '../policy/versioning/resolution.ts';
import { authenticate } from './authenticate.ts';
import { refusedCarrier } from './carrier-status.ts';
import type { Refusal } from './directive.ts';
import { requestedVersion } from './echo.ts';
import type { ExchangeFacts } from './facts.ts';
import { type FirstCall, pinnedVersion } from './pinned-version.ts';
import type { ExchangePorts } from './ports.ts';
import { evidenceOf, resolutionOf, versionOf } from './request-version.ts';
import type { RequestView } from './request-view.ts';

export interface ResolvedRequest {
  readonly whole: VersionRules;
  readonly label: Label;
  readonly carrier: Carrier;
  readonly evidence: Evidence;
  /** Stored once no rule refuses the request. */
  readonly firstCall: FirstCall | undefined;
}

type Resolved = ResolvedRequest | { readonly refusal: Refusal };

/** Writes the carrier into `facts`, and the consumer if the pin of its account was read. */
export function resolveRequest(
  match: RouteMatch<ApiPlan>,
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): MaybePromise<Resolved> {
  const api = match.route;
  // All carriers of the API are read before one of them decides (VER-3).
  const evidence = evidenceOf(match, view);
  if (api.echo) facts.requested = requestedVersion(evidence);
  const named = resolutionOf(api, evidence, facts);
  if (named.kind === 'open') return resolvePinned(api, named, evidence, view, facts, ports);
  if (named.kind === 'refused') {
    facts.carrier = refusedCarrier(named.refusal) ?? facts.carrier;
    return named;
  }
  facts.carrier = named.carrier;
  return { ...named, evidence, whole: versionOf(api, named.label), firstCall: undefined };
}

/** The request names no version: the account of the caller decides, so the caller is authenticated first (VER-3). */
async function resolvePinned(
  api: ApiPlan,
  open: OpenResolution,
  evidence: Evidence,
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): Promise<Resolved> {
  facts.carrier = 'pin';
  facts.perAccount = true;
  if (facts.consumer === undefined) {
    const caller = await authenticate(api.access, view, ports);
    if (caller.kind === 'refused') return caller;
    facts.consumer = caller.consumer;
  }
  const pinned = await pinnedVersion(api, open, facts.consumer, facts, ports);
  if (pinned.kind === 'refused') {
    facts.carrier = refusedCarrier(pinned.refusal) ?? facts.carrier;
    return pinned;
  }
  facts.carrier = pinned.carrier;
  return { ...pinned, evidence, whole: versionOf(api, pinned.label), firstCall: pinned.firstCall };
}
