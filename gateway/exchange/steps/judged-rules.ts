// All rules that must admit a request: those that its path names, and those of its other readings.

import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { NestedRoutes } from '../../plan/routes/nested-routes.ts';
import type { RouteMatch } from '../../plan/routes/route-table.ts';
import type { Consumer } from '../../policy/authentication/access.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { assess } from '../../policy/lifecycle/assess.ts';
import { brownoutRefusal, dependsOnCaller } from '../../policy/lifecycle/brownout-refusal.ts';
import type { BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { exceptionFrom, hasExceptionFrom } from '../../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { hasEnded } from '../../policy/lifecycle/retirement.ts';
import type { Phase } from '../../policy/lifecycle/schedule.ts';
import type { ReadPath } from '../../policy/paths/reading.ts';
import { literalReading } from '../../policy/paths/rules.ts';
import type { Carrier } from '../../policy/versioning/carriers.ts';
import type { Refusal, RequestRefusal } from '../directive.ts';
import { type Decision, NO_LINKS, type RequestStart } from '../facts.ts';
import type { ExchangePorts, Judging } from '../ports.ts';
import type { RequestView } from '../request-view.ts';
import { linksOf, type Resource } from '../successor-url.ts';
import { ANONYMOUS } from './authenticate.ts';
import { refuseOrigin } from './cors.ts';
import { haveOneService, MISREAD, MISREAD_VERSION, refuseOverride } from './misreadings.ts';
import {
  accountOf,
  operationsAt,
  type ResolvedRequest,
  refuseLeftOut,
  resolvePinned,
  statedVersion,
} from './resolution.ts';

export interface JudgedRules extends Pick<Decision, 'linked' | 'successor' | 'relatedLinks'> {
  readonly api: ApiPlan;
  /** As in the plan, without overrides. */
  readonly rules: VersionRules;
  /** `rules` with the overrides and dates in force at the instant of the request. */
  readonly version: VersionRules;
  readonly carrier: Carrier;
  readonly resource: Resource;
  /** With a known consumer: its own phase. Otherwise the phase for callers without an exception. */
  readonly phase: Phase;
  readonly consumer: Consumer | undefined;
  /** The version has ended, and an exception may admit some consumers. */
  readonly mayPass: boolean;
  readonly isExcepted: boolean;
  readonly brownout: { readonly window: BrownoutWindow; readonly refusal: Refusal } | undefined;
  readonly brownoutNeedsCaller: boolean;
}

interface MatchedRules {
  readonly match: RouteMatch<ApiPlan>;
  readonly resolved: ResolvedRequest;
  readonly rules: VersionRules;
  readonly captures: readonly string[];
}

export function judgedRules(
  { match, resolved, rules, captures }: MatchedRules,
  { method, search }: RequestView,
  start: RequestStart,
): JudgedRules {
  const { now } = start;
  const { route: api, tail } = match;
  const { carrier, consumer, evidence } = resolved;
  const version = assess(rules, start);
  const phase = phaseAt(version.phases, now);
  const resource: Resource = { method, tail, captures, search, evidence };
  const isCurrent = phase.stage === 'active' || phase.stage === 'planned';
  const isUnlinked = isCurrent && version.predecessors.length === 0;
  const links = isUnlinked ? NO_LINKS : linksOf(start, api, version, phase, resource);
  const mayPass =
    hasEnded(phase) &&
    version.access.kind === 'identified' &&
    hasExceptionFrom('sunset', version.exceptions, now);
  const window = version.brownouts?.at(now);
  const brownout = window && { window, refusal: brownoutRefusal(version, window, now, links.successor) };
  const brownoutNeedsCaller = window !== undefined && dependsOnCaller(window, version, now);
  return {
    // No spread here: V8 would copy it property by property for every request.
    linked: links.linked,
    successor: links.successor,
    relatedLinks: links.relatedLinks,
    api,
    rules,
    version,
    carrier,
    resource,
    phase,
    consumer,
    mayPass,
    isExcepted: false,
    brownout,
    brownoutNeedsCaller,
  };
}

/** The rules for a known consumer. An exception from the sunset replaces the sunset date of the version. */
export function withConsumer(each: JudgedRules, consumer: Consumer | undefined, now: EpochMs): JudgedRules {
  if (consumer === undefined) return each;
  const { exceptions } = each.version;
  const exception = exceptions.length === 0 ? undefined : exceptionFrom('sunset', exceptions, consumer, now);
  if (exception === undefined) return consumer === each.consumer ? each : { ...each, consumer };
  return { ...each, consumer, phase: phaseAt(exception.phases, now), isExcepted: true };
}

export interface PathReadings {
  readonly match: RouteMatch<ApiPlan>;
  readonly resolved: ResolvedRequest;
  readonly readings: readonly ReadPath[];
  readonly below: NestedRoutes<ApiPlan> | undefined;
}

type RefusingApi = Pick<Decision, 'api'> & { readonly carrier?: Carrier };

export type OtherRules =
  | {
      readonly kind: 'rules';
      readonly others: readonly JudgedRules[];
      /**
       * A service may read the path as one of a nested API or of another version, whose own rules must admit
       * it.
       */
      readonly misread: { readonly api: ApiPlan; readonly refusal: RequestRefusal } | undefined;
    }
  /** A nested API refuses the method override, the origin or the version of the request. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly by: RefusingApi };

export const NO_OTHER_RULES: OtherRules = { kind: 'rules', others: [], misread: undefined };

/** The rules of the other readings of the path, without `own`. Waits only if a pin must be read. */
export function* otherRules(
  own: VersionRules,
  { match, resolved, readings, below }: PathReadings,
  view: RequestView,
  start: RequestStart,
  ports: ExchangePorts,
): Judging<OtherRules> {
  const others: JudgedRules[] = [];
  const judge: Judge = (at, reading) => {
    for (const { rules, captures } of operationsAt(at.resolved.whole, view.method, reading)) {
      if (rules === own || (reading.operationsOnly && rules === at.resolved.whole)) continue;
      if (others.some((each) => each.rules === rules)) continue;
      others.push(judgedRules({ ...at, rules, captures }, view, start));
    }
  };
  const nested: NestedPath[] = [];
  const at = { match, resolved };
  // The API may have several places. If both APIs share one service, a plain path of one place reaches the
  // nested API too.
  const literal = below?.reached(literalReading(match.tail)).map(({ route }) => route) ?? [];
  const inside = match.route.inside?.get(resolved.label);
  let misread: Extract<OtherRules, { kind: 'rules' }>['misread'];
  for (const reading of readings) {
    const all = below?.reached(reading) ?? [];
    const routes = all.filter(
      ({ route }) =>
        route !== match.route && (!literal.includes(route) || haveOneService(resolved.whole, route)),
    );
    const [first] = routes;
    if (first !== undefined) misread ??= { api: first.route, refusal: MISREAD };
    else if (inside?.reached(reading).some(({ route }) => route !== resolved.label))
      misread ??= { api: match.route, refusal: MISREAD_VERSION };
    if (routes.length === 0 || all.some(({ route }) => route === match.route)) judge(at, reading);
    for (const { route, versionSegment = match.versionSegment, depth } of routes) {
      const segments = reading.segments.slice(depth);
      const tail = segments.map((segment) => `/${segment}`).join('');
      const { subdomain } = match;
      nested.push({ match: { route, versionSegment, subdomain, tail }, reading: { ...reading, segments } });
    }
  }
  return (yield* judgeNested(nested, judge, view, start, ports)) ?? { kind: 'rules', others, misread };
}

interface NestedPath {
  readonly match: RouteMatch<ApiPlan>;
  readonly reading: ReadPath;
}

type Judge = (at: Omit<MatchedRules, 'rules' | 'captures'>, reading: ReadPath) => void;

function* judgeNested(
  nested: readonly NestedPath[],
  judge: Judge,
  view: RequestView,
  start: RequestStart,
  ports: ExchangePorts,
): Judging<Extract<OtherRules, { kind: 'refused' }> | undefined> {
  for (const { match, reading } of nested) {
    const { route: api } = match;
    const early = refuseLeftOut(api, ports) ?? refuseOverride(api, view) ?? refuseOrigin(api, view);
    if (early !== undefined) return { kind: 'refused', refusal: early, by: { api } };
    const stated = statedVersion(match, view, start);
    const account = stated.kind === 'open' ? yield* accountOf(api, undefined, view, ports) : ANONYMOUS;
    if (account.kind === 'refused')
      return { kind: 'refused', refusal: account.refusal, by: { api, carrier: 'pin' } };
    const resolved =
      stated.kind === 'open' ? yield* resolvePinned(api, stated, account.consumer, start, ports) : stated;
    if (resolved.kind === 'refused') {
      const { refusal, carrier } = resolved;
      return { kind: 'refused', refusal, by: carrier === undefined ? { api } : { api, carrier } };
    }
    judge({ match, resolved }, reading);
  }
  return undefined;
}
