// Chooses a target in service for each request to an upstream.
import { Fault } from '../../exchange/directive.ts';
import type { Decision } from '../../exchange/facts.ts';
import type { TargetChange, TargetHealth } from '../../exchange/version-states.ts';
import type { GatewayPlan, Target, UpstreamPlan } from '../../plan/plan.ts';
import type { Inbound } from '../../plane/port.ts';
import { byCaller, leastLoaded, roundRobin } from './balance.ts';
import type { HealthPorts } from './health-checks.ts';
import { type Choice, createTargetState, type TargetState } from './target-state.ts';

export interface Targets {
  /**
   * `key`: the caller, for `balance: consumer`. `avoid`: the target of a failed call, chosen again only if no other is
   * in service.
   * @throws Fault `upstream_unavailable` if no target is in service
   */
  readonly choose: (upstream: UpstreamPlan, key: string | undefined, avoid?: Target) => Choice;
  /**
   * Keeps the state of the targets in `plan`, starts their health checks, and drops all other targets. Requests may
   * choose between two steps. Steps of two plans must not overlap.
   */
  readonly keepSteps: (plan: GatewayPlan) => Generator<void, void>;
  readonly close: () => void;
  readonly states: () => Iterable<TargetHealth>;
}

export interface TargetsOptions extends HealthPorts {
  readonly onChange: (change: TargetChange) => void;
}

/** The caller for `balance: consumer`: the consumer, else the address. */
export function callerIdOf(
  { consumer }: Pick<Decision, 'consumer'>,
  { view }: Pick<Inbound, 'view'>,
): string {
  return consumer?.id ?? view.clientAddress;
}

export function createTargets({ onChange, ...ports }: TargetsOptions): Targets {
  const { clock } = ports;
  /** By upstream and address, because a reload creates new upstream objects with the same names. */
  let known = new Map<string, TargetState>();
  const byUpstream = new WeakMap<UpstreamPlan, readonly TargetState[]>();
  let used: readonly { readonly upstream: UpstreamPlan; readonly state: TargetState }[] = [];

  function keep(upstream: UpstreamPlan, into: Map<string, TargetState>): readonly TargetState[] {
    const states = upstream.targets.map((target) => {
      const key = `${upstream.name} ${target.origin}`;
      const named = { upstream: upstream.name, target: target.origin };
      const state =
        into.get(key) ??
        known.get(key) ??
        createTargetState(target, ports, (change) => onChange({ ...named, ...change }));
      into.set(key, state);
      state.configure(upstream);
      return state;
    });
    byUpstream.set(upstream, states);
    return states;
  }

  return {
    choose(upstream, key, avoid) {
      const states = byUpstream.get(upstream) ?? keep(upstream, known);
      const [only] = states;
      if (states.length === 1 && only?.isUp()) return only.begin();
      const now = clock.now();
      const candidates = candidatesOf(states, upstream, avoid, now);
      if (candidates.length > 0) return pick(candidates, now, upstream, key).begin();
      const waitMs = Math.min(...states.map((state) => state.waitMs(now)));
      const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
      throw new Fault('upstream_unavailable', { service: upstream.name, retryAfterSeconds });
    },
    *keepSteps(plan) {
      const kept = new Map<string, TargetState>();
      const seen: { upstream: UpstreamPlan; state: TargetState }[] = [];
      for (const upstream of upstreamsOf(plan)) {
        const states = keep(upstream, kept);
        yield;
        for (const state of states) seen.push({ upstream, state });
      }
      for (const [key, state] of known) if (!kept.has(key)) state.stop();
      known = kept;
      used = seen;
    },
    close() {
      for (const state of known.values()) state.stop();
    },
    states: () =>
      used.map(({ upstream: { name, health, breaker }, state }) => ({
        upstream: name,
        target: state.target.origin,
        up: health === undefined && breaker === undefined ? undefined : state.isUp(),
        recent: state.recent(),
      })),
  };
}

/** If all targets are in service, returns `states` itself and allocates nothing. */
function candidatesOf(
  states: readonly TargetState[],
  { breaker }: UpstreamPlan,
  avoid: Target | undefined,
  now: number,
): readonly TargetState[] {
  const inService = areInService(states, now) ? states : states.filter((state) => state.isInService(now));
  if (avoid !== undefined) {
    const others = inService.filter(({ target }) => target.origin !== avoid.origin);
    if (others.length > 0) return others;
  }
  if (inService.length > 0 || breaker?.strict !== false) return inService;
  // Without `strict`, open breakers do not remove all targets: a target may respond, and a refusal helps no client.
  return states.filter((state) => state.isOnlyEjected());
}

/** A loop, because `every` would allocate a function per request. */
function areInService(states: readonly TargetState[], now: number): boolean {
  for (const state of states) if (!state.isInService(now)) return false;
  return true;
}

const shareOf = (state: TargetState, now: number): number => state.share(now);

function pick(
  candidates: readonly TargetState[],
  now: number,
  { balance }: UpstreamPlan,
  key: string | undefined,
): TargetState {
  switch (balance) {
    case 'round-robin':
      return roundRobin(candidates, shareOf, now);
    case 'least-requests':
      return leastLoaded(candidates, shareOf, now);
    case 'consumer':
      return key === undefined
        ? roundRobin(candidates, shareOf, now)
        : byCaller(candidates, shareOf, now, key);
    default:
      return balance satisfies never;
  }
}

function* upstreamsOf({ apis }: GatewayPlan): Generator<UpstreamPlan, void> {
  for (const { versions } of apis)
    for (const { upstream } of versions.values()) if (upstream !== undefined) yield upstream;
}
