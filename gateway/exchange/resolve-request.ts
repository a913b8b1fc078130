// From a route to the version of its API that a request means; authenticates the caller if the account decides.
// Called for the API that the path names, and for each nested API that another reading leads to.
import type { OperationMatch } from '../plan/operation-table.ts';
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import type { ReadPath } from '../policy/paths/reading.ts';
import type { Carrier, Evidence, Label, OpenResolution } from '../policy/versioning/resolution.ts';
import { authenticate, type Caller } from './authenticate.ts';
import { refusedCarrier } from './carrier-status.ts';
import type { Refusal } from './directive.ts';
import type { RequestStart } from './facts.ts';
import { awaited, type Judging } from './judging.ts';
import { type FirstCall, type Pinned, pinnedVersion } from './pinned-version.ts';
import type { ExchangePorts } from './ports.ts';
import { evidenceOf, resolutionOf, versionOf } from './request-version.ts';
import type { RequestView } from './request-view.ts';
import { NO_CAPTURES } from './successor-url.ts';

export interface ResolvedRequest {
  readonly kind: 'resolved';
  readonly whole: VersionRules;
  readonly label: Label;
  readonly carrier: Carrier;
  readonly evidence: Evidence;
  /** Of whom the pin was read. */
  readonly consumer: Consumer | undefined;
  /** Stored once no rule refuses the request. */
  readonly firstCall: FirstCall | undefined;
}

interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** Whose value is refused. */
  readonly carrier: Carrier | undefined;
  readonly evidence: Evidence;
}

interface Open {
  readonly kind: 'open';
  readonly open: OpenResolution;
  readonly evidence: Evidence;
}

/** What the request itself says: a version, a refusal of it, or nothing; then `resolvePinned` finds the version. */
export function statedVersion(
  match: RouteMatch<ApiPlan>,
  view: RequestView,
  start: RequestStart,
): ResolvedRequest | Refused | Open {
  const api = match.route;
  // All carriers of the API are read before one of them decides (VER-3).
  const evidence = evidenceOf(match, view);
  const named = resolutionOf(api, evidence, start);
  if (named.kind === 'open') return { kind: 'open', open: named, evidence };
  return resolvedAs(api, named, evidence, undefined);
}

/** The account that decides if the request names no version: its caller is authenticated first (VER-3). */
export function* accountOf(
  { access }: ApiPlan,
  known: Consumer | undefined,
  view: RequestView,
  ports: ExchangePorts,
): Judging<Caller> {
  if (known !== undefined) return { kind: 'known', consumer: known };
  const caller = authenticate(access, view, ports);
  return caller instanceof Promise ? yield* awaited(caller) : caller;
}

export function* resolvePinned(
  api: ApiPlan,
  { open, evidence }: Open,
  consumer: Consumer | undefined,
  start: RequestStart,
  ports: ExchangePorts,
): Judging<ResolvedRequest | Refused> {
  return resolvedAs(api, yield* pinnedVersion(api, open, consumer, start, ports), evidence, consumer);
}

function resolvedAs(
  api: ApiPlan,
  named: Pinned,
  evidence: Evidence,
  consumer: Consumer | undefined,
): ResolvedRequest | Refused {
  if (named.kind === 'refused') {
    const { refusal } = named;
    return { kind: 'refused', refusal, carrier: refusedCarrier(refusal), evidence };
  }
  const { label, carrier, firstCall } = named;
  return { kind: 'resolved', whole: versionOf(api, label), label, carrier, evidence, consumer, firstCall };
}

/** The operations that a path means in this reading; the whole version too if a reader finds none. */
export function operationsAt(
  whole: VersionRules,
  method: string,
  reading: ReadPath | undefined,
): readonly [OperationMatch<VersionRules>, ...OperationMatch<VersionRules>[]] {
  const found = reading && whole.operations?.reached(method, reading);
  const all = { rules: whole, captures: NO_CAPTURES };
  const [named = all, ...more] = found?.matches ?? [];
  return found === undefined || found.byAll || named === all ? [named, ...more] : [named, ...more, all];
}
