// All rules that must admit a request: those that its path names, and those of every other reading of the path.
// Built once the version is known; the pipeline runs each of its steps for all of them.
import type { NestedRoutes } from '../plan/nested-routes.ts';
import type { OperationMatch } from '../plan/operation-table.ts';
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import { assess } from '../policy/lifecycle/assess.ts';
import { brownOut, looksAtCaller } from '../policy/lifecycle/brownout-refusal.ts';
import type { BrownoutWindow } from '../policy/lifecycle/brownout-rule.ts';
import { someoneMayPass } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded } from '../policy/lifecycle/retirement.ts';
import type { Phase } from '../policy/lifecycle/schedule.ts';
import type { ReadPath } from '../policy/paths/reading.ts';
import { literalReading } from '../policy/paths/rules.ts';
import { isNamedByPlace } from '../policy/versioning/readers.ts';
import { refuseStranger } from './cors.ts';
import type { Refusal, RequestRefusal } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';
import type { Judging } from './judging.ts';
import { refuseLeftOut } from './left-out.ts';
import { refuseOverride } from './method-override.ts';
import { haveOneService, MISREAD, MISREAD_VERSION } from './path-readings.ts';
import type { ExchangePorts } from './ports.ts';
import type { RequestView } from './request-view.ts';
import { type ResolvedRequest, resolvePinned, statedVersion } from './resolve-request.ts';
import { NO_CAPTURES, noteLinks, type Resource } from './successor-url.ts';

/** One set of rules that must admit the request. */
export interface JudgedRules {
  readonly api: ApiPlan;
  /** As the plan has them. */
  readonly rules: VersionRules;
  /** The same at the instant of the request. */
  readonly version: VersionRules;
  readonly isUnversioned: boolean;
  readonly resource: Resource;
  /** The phase for every caller without an exception. */
  readonly phase: Phase;
  /** The facts of the exchange for the rules that the path names; a copy of them for other rules. */
  readonly facts: ExchangeFacts;
  /** The version has ended, and an exception may let some consumers pass. */
  readonly mayPass: boolean;
  /** The current brownout with its refusal. */
  readonly brownout: { readonly window: BrownoutWindow; readonly refusal: Refusal } | undefined;
  /** Whether the brownout depends on the caller. */
  readonly asksCaller: boolean;
}

interface Found {
  readonly match: RouteMatch<ApiPlan>;
  readonly resolved: ResolvedRequest;
  readonly rules: VersionRules;
  readonly captures: readonly string[];
}

/** The rules of one version or operation; writes into `facts` what they mean for this request. */
export function judgedRules(
  { match, resolved, rules, captures }: Found,
  { method, search }: RequestView,
  facts: ExchangeFacts,
): JudgedRules {
  const { now } = facts;
  const { route: api, tail } = match;
  const version = assess(rules, facts);
  facts.version = version;
  const phase = phaseAt(version.phases, now);
  facts.phase = phase;
  const resource: Resource = {
    method,
    tail,
    captures,
    search,
    // After a redirect the client sends the header with the version again (RET-5).
    byPathAlone: isNamedByPlace(resolved.evidence),
  };
  noteLinks(facts, api, version, phase, resource);
  const mayPass =
    hasEnded(phase) &&
    version.access.kind === 'identified' &&
    someoneMayPass('sunset', version.exceptions, now);
  const window = version.brownouts?.at(now);
  const refusal = window && brownOut(version, window, now, facts.successor);
  const asksCaller = window !== undefined && looksAtCaller(window, version, now);
  facts.sparesSome = mayPass || asksCaller;
  return {
    api,
    rules,
    version,
    isUnversioned: resolved.carrier === 'unversioned',
    resource,
    phase,
    facts,
    mayPass,
    brownout: window && refusal && { window, refusal },
    asksCaller,
  };
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

export interface Readings {
  readonly match: RouteMatch<ApiPlan>;
  readonly resolved: ResolvedRequest;
  readonly readings: readonly ReadPath[];
  readonly below: NestedRoutes<ApiPlan> | undefined;
}

export type Reached =
  | {
      readonly kind: 'rules';
      readonly others: readonly JudgedRules[];
      /** A service may read the path as one of a nested API or of another version of `api`; only their own rules may lead there. */
      readonly misread: { readonly api: ApiPlan; readonly refusal: RequestRefusal } | undefined;
    }
  /** A nested API refuses the method override, the origin or the version of the request. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly by: ExchangeFacts };

/** If a path can be read in one way only. */
export const NO_OTHERS: Reached = { kind: 'rules', others: [], misread: undefined };

/** The rules of the other readings of the path, without `own`; waits only if a pin must be read. */
export function* otherRules(
  own: VersionRules,
  { match, resolved, readings, below }: Readings,
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): Judging<Reached> {
  const others: JudgedRules[] = [];
  const judge: Judge = (at, reading, known) => {
    for (const { rules, captures } of operationsAt(at.resolved.whole, view.method, reading)) {
      if (rules === own || (reading.operationsOnly && rules === at.resolved.whole)) continue;
      if (others.some((each) => each.rules === rules)) continue;
      others.push(judgedRules({ ...at, rules, captures }, view, { ...known }));
    }
  };
  const nested: NestedPath[] = [];
  const at = { match, resolved };
  // The API may have several places. With one service behind both APIs, a plain path of one place leads to the nested API too.
  const written = below?.reached(literalReading(match.tail)).map(({ route }) => route) ?? [];
  const inside = match.route.inside?.get(resolved.label);
  let misread: Extract<Reached, { kind: 'rules' }>['misread'];
  for (const reading of readings) {
    const all = below?.reached(reading) ?? [];
    const routes = all.filter(
      ({ route }) =>
        route !== match.route && (!written.includes(route) || haveOneService(resolved.whole, route)),
    );
    const [first] = routes;
    if (first !== undefined) misread ??= { api: first.route, refusal: MISREAD };
    else if (inside?.reached(reading).some(({ route }) => route !== resolved.label))
      misread ??= { api: match.route, refusal: MISREAD_VERSION };
    if (routes.length === 0 || all.some(({ route }) => route === match.route)) judge(at, reading, facts);
    for (const { route, versionSegment = match.versionSegment, depth } of routes) {
      const segments = reading.segments.slice(depth);
      const tail = segments.map((segment) => `/${segment}`).join('');
      const { subdomain } = match;
      nested.push({ match: { route, versionSegment, subdomain, tail }, reading: { ...reading, segments } });
    }
  }
  return (yield* judgeNested(nested, judge, view, facts, ports)) ?? { kind: 'rules', others, misread };
}

/** The version of `own` with the smallest body bound of all rules, and with an idempotency rule that covers `method`. */
export function strictest(
  [own, ...others]: readonly [JudgedRules, ...JudgedRules[]],
  method: string,
): VersionRules {
  if (others.length === 0) return own.version;
  const each = [own, ...others].map(({ version }) => version);
  const keys = each.flatMap(({ idempotency }) => (idempotency?.methods.has(method) ? [idempotency] : []));
  return {
    ...own.version,
    maxBody: Math.min(...each.map(({ maxBody }) => maxBody)),
    idempotency: keys.find(({ required }) => required) ?? keys[0],
  };
}

/** A path as the nested API would get it. */
interface NestedPath {
  readonly match: RouteMatch<ApiPlan>;
  readonly reading: ReadPath;
}

type Judge = (at: Omit<Found, 'rules' | 'captures'>, reading: ReadPath, known: ExchangeFacts) => void;

function* judgeNested(
  nested: readonly NestedPath[],
  judge: Judge,
  view: RequestView,
  facts: ExchangeFacts,
  ports: ExchangePorts,
): Judging<Extract<Reached, { kind: 'refused' }> | undefined> {
  for (const { match, reading } of nested) {
    // The nested API may accept other credentials.
    const own: ExchangeFacts = { ...facts, api: match.route, version: undefined, consumer: undefined };
    const early =
      refuseLeftOut(match.route, ports) ??
      refuseOverride(match.route, view) ??
      refuseStranger(match.route, view);
    if (early !== undefined) return { kind: 'refused', refusal: early, by: own };
    const stated = statedVersion(match, view, own);
    const resolved =
      stated.kind === 'open' ? yield* resolvePinned(match.route, stated, view, own, ports) : stated;
    if (resolved.kind === 'refused') return { kind: 'refused', refusal: resolved.refusal, by: own };
    judge({ match, resolved }, reading, own);
  }
  return undefined;
}
