// The pipeline steps that refuse a request, each for one set of rules. `pipeline.ts` defines their order.
import { authorise, type Consumer } from '../../policy/authentication/access.ts';
import type { MaybePromise } from '../../policy/contract.ts';
import { isRefusedByBrownout } from '../../policy/lifecycle/brownout-refusal.ts';
import {
  hasEnded,
  isForgotten,
  isFrozenFor,
  refuseAdoption,
  refuseEnded,
} from '../../policy/lifecycle/retirement.ts';
import { refuseDuringMaintenance } from '../../policy/maintenance/maintenance.ts';
import type { Directive, Refusal } from '../directive.ts';
import { type Deciding, type RequestStart, recordRules } from '../facts.ts';
import type { ExchangePorts } from '../ports.ts';
import type { RequestView } from '../request-view.ts';
import { redirectUrl } from '../successor-url.ts';
import { type AuthenticatedCaller, authenticate } from './authenticate.ts';
import type { JudgedRules } from './judged-rules.ts';

export interface StepInput {
  readonly view: RequestView;
  readonly start: RequestStart;
  readonly ports: ExchangePorts;
}

/** The rules that the path names come first. */
export type AllRules = [JudgedRules, ...JudgedRules[]];

type AdmissionStep = (each: JudgedRules, request: StepInput) => Refusal | undefined;

/** Whether other rules identify callers by another access rule than `own`. */
export function differsByCaller([own, ...others]: AllRules): boolean {
  return others.some(
    ({ version: { access } }) => access.kind === 'identified' && access !== own.version.access,
  );
}

export function refuse(refusal: Refusal): Directive {
  return { kind: 'refuse', refusal };
}

/**
 * The answer to the first refusal by `step`, in the order of `judged`. With `enforceBy`, a refusal may be
 * ignored.
 */
export function firstRefusal(
  judged: AllRules,
  step: AdmissionStep,
  request: StepInput,
  decision: Deciding,
  answer: typeof enforceBy = refuseBy,
): Directive | undefined {
  for (const each of judged) {
    const refusal = step(each, request);
    const refused = refusal && answer(each, judged, refusal, decision);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** The error describes the rules that refuse. Headers, metrics and logs use the rules that the path names. */
export function refuseBy(
  each: JudgedRules,
  [own]: AllRules,
  refusal: Refusal,
  decision: Deciding,
): Directive {
  if (own !== each) decision.refusedBy = recordRules(each, { ...decision });
  return refuse(refusal);
}

/**
 * In `mode: observe` it records the first reason and returns undefined, if there is an upstream to forward
 * to.
 */
export function enforceBy(
  each: JudgedRules,
  judged: AllRules,
  refusal: Refusal,
  decision: Deciding,
): Directive | undefined {
  if (each.api.mode === 'enforce' || each.version.upstream === undefined)
    return refuseBy(each, judged, refusal, decision);
  if (each === judged[0]) decision.observed ??= refusal.reason;
  return undefined;
}

/**
 * Needed for an API without versions: version resolution finds a forgotten version only in `mode: observe`.
 */
export function refuseForgotten(
  { version, carrier }: JudgedRules,
  { start }: StepInput,
): Refusal | undefined {
  return carrier === 'unversioned' && isForgotten(version.schedule, start.now)
    ? { reason: 'route_unknown' }
    : undefined;
}

/**
 * Refuses every caller. If an exception may admit some, `refuseUnexcepted` decides once the caller is known.
 */
export function refuseRetired(each: JudgedRules, { start }: StepInput): Refusal | undefined {
  return hasEnded(each.phase) && !each.mayPass ? retirementOf(each, start) : undefined;
}

/**
 * Refuses every caller. If the brownout depends on the caller, `refuseBrownedOut` decides once the caller is
 * known.
 */
export function refuseInBrownout({ brownout, brownoutNeedsCaller }: JudgedRules): Refusal | undefined {
  return brownoutNeedsCaller ? undefined : brownout?.refusal;
}

export function refuseInMaintenance(
  { version: { maintenance } }: JudgedRules,
  { ports }: StepInput,
): Refusal | undefined {
  return maintenance && refuseDuringMaintenance(maintenance, ports.wallClock());
}

/**
 * Authenticates the caller for `each`. `known`: the consumer of `own`, also used for rules with the same
 * access.
 */
export function callerOf(
  each: JudgedRules,
  own: JudgedRules,
  known: Consumer | undefined,
  { view, ports }: StepInput,
): MaybePromise<AuthenticatedCaller> {
  if (each.consumer !== undefined) return { kind: 'known', consumer: each.consumer };
  if (each !== own && each.version.access === own.version.access) return { kind: 'known', consumer: known };
  return authenticate(each.version.access, view, ports);
}

export function refuseUnexcepted(each: JudgedRules, { start }: StepInput): Refusal | undefined {
  return each.mayPass && !each.isExcepted ? retirementOf(each, start) : undefined;
}

export function refuseBrownedOut(
  { version, consumer, brownout, brownoutNeedsCaller }: JudgedRules,
  { view, start }: StepInput,
): Refusal | undefined {
  if (brownout === undefined || !brownoutNeedsCaller) return undefined;
  const caller = { consumer, clientAddress: view.clientAddress };
  return isRefusedByBrownout(brownout.window, version, start.now, caller) ? brownout.refusal : undefined;
}

/** Much longer than a recorded call needs to reach the store. */
const REMEMBERED_MS = 3_600_000;

/**
 * Whether a frozen version is closed to this consumer, whose call then counts. Queries the ledger only after
 * the freeze and if no exception admits the consumer. Synchronous for a known consumer. Callers known only by
 * address are not judged.
 */
export function refuseFrozen(
  { version, consumer, successor }: JudgedRules,
  { start: { now }, ports: { adoption } }: StepInput,
): MaybePromise<Refusal | undefined> {
  const { freeze, api, label } = version;
  if (freeze === undefined || consumer === undefined) return undefined;
  const adopter = { consumer: consumer.id, api, version: label };
  if (now < freeze && now >= freeze - REMEMBERED_MS) adoption.saw(adopter, now);
  if (!isFrozenFor(version, freeze, consumer, now)) return undefined;
  const refusal = (late: boolean) => (late ? refuseAdoption(version, freeze, successor) : undefined);
  const late = adoption.isLate(adopter, freeze, now);
  return late instanceof Promise ? late.then(refusal) : refusal(late);
}

export function refuseUnauthorised(
  { version, consumer }: JudgedRules,
  { view }: StepInput,
): Refusal | undefined {
  const { access } = version;
  return access.kind === 'identified' ? authorise(access, view.method, consumer) : undefined;
}

/** Reads only Content-Length. The forwarder measures a body without one. */
export function refuseOversized(
  { version: { maxBody } }: JudgedRules,
  { view: { headers } }: StepInput,
): Refusal | undefined {
  const length = headers.get('content-length');
  return length !== undefined && Number(length) > maxBody
    ? { reason: 'body_too_large', most: maxBody }
    : undefined;
}

function retirementOf(
  { api, version, phase, successor: next, resource }: JudgedRules,
  start: RequestStart,
): Refusal {
  const { label, operation, schedule } = version;
  const { method } = resource;
  const redirect = redirectUrl(start.plan, api, version, start, resource);
  return refuseEnded({ label, operation, schedule, phase, method, next, redirect });
}
