// Resolves the version of a request. If the account decides, the caller is authenticated first.

import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { OperationMatch } from '../../plan/routes/operation-table.ts';
import type { RouteMatch } from '../../plan/routes/route-table.ts';
import type { Consumer } from '../../policy/authentication/access.ts';
import { retryLater } from '../../policy/contract.ts';
import { assess, type StageInput } from '../../policy/lifecycle/assess.ts';
import { hasExceptionFrom } from '../../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { hasEnded, isForgotten } from '../../policy/lifecycle/retirement.ts';
import type { Phase } from '../../policy/lifecycle/schedule.ts';
import type { ReadPath } from '../../policy/paths/reading.ts';
import type { Carrier } from '../../policy/versioning/carriers.ts';
import type { PinAvailability } from '../../policy/versioning/pin.ts';
import { readEvidence } from '../../policy/versioning/readers.ts';
import {
  type Evidence,
  type Label,
  type OpenResolution,
  UNVERSIONED,
} from '../../policy/versioning/resolution.ts';
import { resolveVersion } from '../../policy/versioning/resolve.ts';
import { Fault, type Refusal, type RequestRefusal } from '../directive.ts';
import type { RequestStart } from '../facts.ts';
import { awaited, type ExchangePorts, type Judging } from '../ports.ts';
import type { RequestView } from '../request-view.ts';
import { NO_CAPTURES } from '../successor-url.ts';
import { type AuthenticatedCaller, authenticate } from './authenticate.ts';
import { type FirstCall, type Pinned, pinnedVersion } from './pinned-version.ts';

export interface ResolvedRequest {
  readonly kind: 'resolved';
  readonly whole: VersionRules;
  readonly label: Label;
  readonly carrier: Carrier;
  readonly evidence: Evidence;
  /** The consumer whose pin was read. */
  readonly consumer: Consumer | undefined;
  /** Stored once no rule refuses the request. */
  readonly firstCall: FirstCall | undefined;
}

interface RefusedResolution {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  readonly carrier: Carrier | undefined;
  readonly evidence: Evidence;
}

interface AccountResolution {
  readonly kind: 'open';
  readonly open: OpenResolution;
  readonly evidence: Evidence;
}

/** A guess, because it is unknown when the policy file will be corrected. */
const RETRY_SECONDS = 60;

/** An API is left out if its file has errors and no earlier accepted form replaces it. */
export function refuseLeftOut(
  { isLeftOut }: ApiPlan,
  { wallClock }: Pick<ExchangePorts, 'wallClock'>,
): RequestRefusal | undefined {
  if (isLeftOut !== true) return undefined;
  return retryLater('api_left_out', RETRY_SECONDS, wallClock());
}

const UNNAMED: Pinned = { kind: 'resolved', label: UNVERSIONED, carrier: 'unversioned' };
const NO_EVIDENCE: Evidence = { claims: [], preferences: [] };

/** The version that the request names. `open` if it names none: `resolvePinned` then finds it. */
export function statedVersion(
  match: RouteMatch<ApiPlan>,
  view: RequestView,
  start: RequestStart,
): ResolvedRequest | RefusedResolution | AccountResolution {
  const { route: api, versionSegment: pathSegment, subdomain, tail } = match;
  if (api.resolution.labels[0] === UNVERSIONED) return resolvedAs(api, UNNAMED, NO_EVIDENCE, undefined);
  // Reads every carrier that the API has enabled before one of them decides (VER-3).
  const { method, search, headers, underscored } = view;
  const input = { method, pathSegment, subdomain, tail, search, headers, underscored };
  const evidence = readEvidence(api.resolution, input);
  const named = resolveVersion(api.resolution, evidence, versionsAt(api, start));
  if (named.kind === 'open') return { kind: 'open', open: named, evidence };
  return resolvedAs(api, named, evidence, undefined);
}

/** Authenticates the caller whose account decides the version if the request names none (VER-3). */
export function* accountOf(
  { access }: ApiPlan,
  known: Consumer | undefined,
  view: RequestView,
  ports: ExchangePorts,
): Judging<AuthenticatedCaller> {
  if (known !== undefined) return { kind: 'known', consumer: known };
  const caller = authenticate(access, view, ports);
  return caller instanceof Promise ? yield* awaited(caller) : caller;
}

export function* resolvePinned(
  api: ApiPlan,
  { open, evidence }: AccountResolution,
  consumer: Consumer | undefined,
  start: RequestStart,
  ports: ExchangePorts,
): Judging<ResolvedRequest | RefusedResolution> {
  const pinned = yield* pinnedVersion(api, open, consumer, versionsAt(api, start), ports);
  return resolvedAs(api, pinned, evidence, consumer);
}

function resolvedAs(
  api: ApiPlan,
  named: Pinned,
  evidence: Evidence,
  consumer: Consumer | undefined,
): ResolvedRequest | RefusedResolution {
  if (named.kind === 'refused') {
    const { refusal } = named;
    return { kind: 'refused', refusal, carrier: refusedCarrier(refusal), evidence };
  }
  const { label, carrier, firstCall } = named;
  return { kind: 'resolved', whole: versionOf(api, label), label, carrier, evidence, consumer, firstCall };
}

/** The carrier whose value was refused, so that operators see where unknown versions come from. */
function refusedCarrier(refusal: Refusal): Carrier | undefined {
  if (refusal.reason === 'version_unacceptable') return 'accept';
  return 'claim' in refusal ? refusal.claim.carrier : undefined;
}

/**
 * The operations that a path means in this reading. Includes the whole version if some reader finds no
 * operation.
 */
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

export function versionsAt(api: ApiPlan, moment: StageInput): PinAvailability {
  return {
    now: moment.now,
    isReleased: (label) => isReleased(api, label, moment),
    isServed: (label) => isReleased(api, label, moment) && !hasEnded(phaseOf(api, label, moment)),
    mayAnswer: (label) => mayAnswer(api, label, moment),
    wasReleased: (label, at) => phaseAt(versionOf(api, label).phases, at).stage !== 'planned',
  };
}

/** @throws Fault `internal` for a label that is not in the plan, which resolution never returns */
export function versionOf(api: ApiPlan, label: Label): VersionRules {
  const version = api.versions.get(label);
  if (version === undefined)
    throw new Fault('internal', { cause: new Error(`plan without version ${label}`) });
  return version;
}

/** Planned versions (STAT-1) and forgotten ones count as not released. */
function isReleased(api: ApiPlan, label: Label, moment: StageInput): boolean {
  if (phaseOf(api, label, moment).stage === 'planned') return false;
  const { schedule, upstream } = assess(versionOf(api, label), moment);
  return !isForgotten(schedule, moment.now) || (api.mode === 'observe' && upstream !== undefined);
}

/**
 * After its sunset a version still serves consumers with an exception, and all callers in `mode: observe`.
 */
function mayAnswer(api: ApiPlan, label: Label, moment: StageInput): boolean {
  if (!hasEnded(phaseOf(api, label, moment))) return true;
  const { access, exceptions, upstream } = versionOf(api, label);
  if (api.mode === 'observe' && upstream !== undefined) return true;
  return access.kind === 'identified' && hasExceptionFrom('sunset', exceptions, moment.now);
}

function phaseOf(api: ApiPlan, label: Label, moment: StageInput): Phase {
  return phaseAt(assess(versionOf(api, label), moment).phases, moment.now);
}
