// The steps of the pipeline that refuse a request, each for one set of rules; `pipeline.ts` gives their order and its reasons.
// Each returns a refusal or undefined; the runners call it for all rules that the path may mean.
import { authorise } from '../policy/authentication/authorise.ts';
import type { MaybePromise } from '../policy/contract.ts';
import { meetsBrownout } from '../policy/lifecycle/brownout-refusal.ts';
import { leaveFrom } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded, isForgotten } from '../policy/lifecycle/retirement.ts';
import type { Part, Quota } from '../policy/rate-limit/limit.ts';
import { authenticate, type Caller } from './authenticate.ts';
import type { Directive, Refusal } from './directive.ts';
import { enforce, observe, refuse } from './enforce.ts';
import type { JudgedRules } from './judged-rules.ts';
import { limitRefusal, partsOf } from './limit-of.ts';
import { refuseNewcomer } from './newcomer.ts';
import type { ExchangePorts } from './ports.ts';
import type { RequestView } from './request-view.ts';
import { refuseEnded } from './retirement-answer.ts';

/** The first refusal of `step`, in the order of `judged`. */
export function first(
  judged: readonly JudgedRules[],
  step: (each: JudgedRules) => Refusal | undefined,
): Directive | undefined {
  for (const each of judged) {
    const refusal = step(each);
    if (refusal !== undefined) return refuseBy(each, judged, refusal);
  }
  return undefined;
}

/** `first` for lifecycle and limits: an API in mode observe ignores their refusals. */
export function firstEnforced(
  judged: readonly JudgedRules[],
  step: (each: JudgedRules) => Refusal | undefined,
): Directive | undefined {
  for (const each of judged) {
    const refusal = step(each);
    if (refusal !== undefined && isEnforced(each, refusal)) return refuseBy(each, judged, refusal);
  }
  return undefined;
}

/** `first` for a step that may be asynchronous; returns no promise if no step did. */
export function firstAwaited(
  judged: readonly JudgedRules[],
  step: (each: JudgedRules) => MaybePromise<Refusal | undefined>,
  from = 0,
): MaybePromise<Directive | undefined> {
  for (let index = from; index < judged.length; index += 1) {
    const each = judged[index];
    if (each === undefined) continue;
    const asked = step(each);
    if (asked instanceof Promise)
      return asked.then((refusal) =>
        refusal === undefined ? firstAwaited(judged, step, index + 1) : refuseBy(each, judged, refusal),
      );
    if (asked !== undefined) return refuseBy(each, judged, asked);
  }
  return undefined;
}

/** The error describes the rules that refuse; headers, metrics and logs follow the rules that the path names. */
function refuseBy(each: JudgedRules, [own]: readonly JudgedRules[], refusal: Refusal): Directive {
  if (own !== undefined && own !== each) own.facts.refusedBy = each.facts;
  return refuse(refusal);
}

function isEnforced({ api, version, facts }: JudgedRules, refusal: Refusal): boolean {
  return enforce(api, version, facts, refusal) !== undefined;
}

/** For an API without versions: version resolution does not find a forgotten version, except in mode observe. */
export function refuseForgotten({ version, isUnversioned, facts }: JudgedRules): Refusal | undefined {
  if (!isForgotten(version.schedule, facts.now)) return undefined;
  if (isUnversioned) return { reason: 'route_unknown' };
  observe(facts, 'version_unknown');
  return undefined;
}

/** For every caller. If an exception may let some callers pass, `refuseUnexcepted` decides once the caller is known. */
export function refuseRetired(each: JudgedRules): Refusal | undefined {
  return hasEnded(each.phase) && !each.mayPass ? retirementOf(each) : undefined;
}

/** For every caller. If the brownout depends on the caller, `refuseBrownedOut` decides once the caller is known. */
export function refuseInBrownout({ brownout, asksCaller }: JudgedRules): Refusal | undefined {
  return asksCaller ? undefined : brownout?.refusal;
}

/** Writes the consumer into the facts. Rules with the same access as `own` take its consumer. */
export function identify(
  { version, facts }: JudgedRules,
  own: JudgedRules,
  view: RequestView,
  ports: ExchangePorts,
): MaybePromise<Refusal | undefined> {
  if (facts.consumer !== undefined) return undefined;
  if (facts !== own.facts && version.access === own.version.access) {
    facts.consumer = own.facts.consumer;
    return undefined;
  }
  const take = (caller: Caller): Refusal | undefined => {
    if (caller.kind === 'refused') return caller.refusal;
    facts.consumer = caller.consumer;
    return undefined;
  };
  const caller = authenticate(version.access, view, ports);
  return caller instanceof Promise ? caller.then(take) : take(caller);
}

/** An exception from the sunset replaces the date of the version by its own. */
export function refuseUnexcepted(each: JudgedRules): Refusal | undefined {
  const { version, facts } = each;
  const exception = leaveFrom('sunset', version.exceptions, facts.consumer, facts.now);
  if (exception === undefined) return each.mayPass ? retirementOf(each) : undefined;
  facts.phase = phaseAt(exception.phases, facts.now);
  return undefined;
}

export function refuseBrownedOut(
  { version, facts, brownout, asksCaller }: JudgedRules,
  clientAddress: string,
): Refusal | undefined {
  if (brownout === undefined || !asksCaller) return undefined;
  const caller = { consumer: facts.consumer, clientAddress };
  return meetsBrownout(brownout.window, version, facts.now, caller) ? brownout.refusal : undefined;
}

export function refuseFrozen(each: JudgedRules, ports: ExchangePorts): MaybePromise<Refusal | undefined> {
  const { version, facts } = each;
  if (version.freeze === undefined) return undefined;
  const asked = refuseNewcomer(version, facts.consumer, facts, ports);
  const enforced = (refusal: Refusal | undefined) =>
    refusal !== undefined && isEnforced(each, refusal) ? refusal : undefined;
  return asked instanceof Promise ? asked.then(enforced) : enforced(asked);
}

export function refuseUnauthorised({ version, facts }: JudgedRules, method: string): Refusal | undefined {
  const { access } = version;
  return access.kind === 'identified' ? authorise(access, method, facts.consumer) : undefined;
}

/** Of two parts of one bucket: the higher cost, and enforced where one of them is. */
function stricter(one: Part, other: Part): Part {
  const enforced = one.rule.shadow ? other : one;
  return { ...enforced, cost: Math.max(one.cost, other.cost) };
}

/**
 * Takes units from the limits of all rules in one call; from a shared limit once, at the highest cost. The answer shows the limits
 * of the rules that the path names. If the request is refused, it shows all of them.
 */
export function takeLimits(
  judged: readonly JudgedRules[],
  own: JudgedRules,
  { clientAddress }: RequestView,
  ports: ExchangePorts,
): MaybePromise<Directive | undefined> {
  const parts: Part[] = [];
  let ownParts = 0;
  for (const { version, facts } of judged) {
    if (version.limits === undefined) continue;
    for (const part of partsOf(version, version.limits, facts.consumer, clientAddress, facts)) {
      const shared = parts.findIndex(({ key }) => key === part.key);
      if (shared < 0) parts.push(part);
      else parts[shared] = stricter(parts[shared] ?? part, part);
    }
    if (facts === own.facts) ownParts = parts.length;
  }
  if (parts.length === 0) return undefined;
  const judge = (quotas: readonly Quota[]): Directive | undefined => {
    own.facts.quotas = quotas;
    const refusal = limitRefusal(quotas, ports.wallClock);
    if (refusal !== undefined && isEnforced(own, refusal)) return refuse(refusal);
    if (ownParts < quotas.length) own.facts.quotas = ownParts === 0 ? undefined : quotas.slice(0, ownParts);
    return undefined;
  };
  // A request that is judged again is already counted. A lease returns its quotas without a promise.
  const taking = own.facts.quotas ?? ports.limiter.take(parts);
  return taking instanceof Promise ? taking.then(judge) : judge(taking);
}

function retirementOf({ api, version, phase, facts, resource }: JudgedRules): Refusal {
  return refuseEnded(api, version, phase, facts, resource);
}
