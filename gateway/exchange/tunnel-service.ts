// Whether the version and the token of an open WebSocket still permit it.
import type { GatewayPlan } from '../plan/plan.ts';
import { tokenEndOf } from '../policy/authentication/consumer.ts';
import type { EpochMs } from '../policy/contract.ts';
import { assess, type StageInput } from '../policy/lifecycle/assess.ts';
import { exceptionFrom } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded } from '../policy/lifecycle/retirement.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import type { Decision } from './facts.ts';

/** Names instead of objects of a plan, because a reload replaces those. */
export interface TunnelService {
  readonly api: string;
  readonly version: Label;
  /** Operations with rules of their own that any reading of the path reached. Undefined: the version as a whole. */
  readonly operations: readonly (string | undefined)[];
  readonly consumer: { readonly id: string } | undefined;
  /** By the real clock. Undefined for access without a token. */
  readonly tokenEnd: EpochMs | undefined;
  readonly isRevoked: (() => boolean) | undefined;
}

export type ExpiryCause = 'version' | 'token';

export function tunnelServiceOf({ api, version, others, consumer }: Decision): TunnelService {
  return {
    api: api?.name ?? '',
    version: version?.label ?? '',
    operations: [version?.operation, ...others.map((each) => each.version?.operation)],
    consumer: consumer && { id: consumer.id },
    tokenEnd: consumer && tokenEndOf(consumer),
    isRevoked: consumer?.isRevoked,
  };
}

/** WS-6: why a new request with the same token would be refused. `wallNow`: the real clock. */
export function expiryCauseOf(
  held: TunnelService,
  plan: GatewayPlan,
  moment: StageInput,
  wallNow: EpochMs,
): ExpiryCause | undefined {
  if (isOver(held, plan, moment)) return 'version';
  const { tokenEnd, isRevoked } = held;
  return (tokenEnd !== undefined && wallNow >= tokenEnd) || isRevoked?.() ? 'token' : undefined;
}

/**
 * Whether the version has ended for this consumer: by its dates with extensions and overrides, or because the plan no
 * longer has it. A brownout closes no open WebSocket, and `mode: observe` closes none at all.
 */
export function isOver(held: TunnelService, plan: GatewayPlan, moment: StageInput): boolean {
  const api = plan.apiNamed(held.api);
  const whole = api?.versions.get(held.version);
  if (api === undefined || whole === undefined) return true;
  return held.operations.some((name) => {
    const operation = whole.operations?.list.find((rules) => rules.operation === name);
    const { upstream, phases, exceptions } = assess(operation ?? whole, moment);
    if (!hasEnded(phaseAt(phases, moment.now))) return false;
    if (api.mode !== 'enforce' && upstream !== undefined) return false;
    return exceptionFrom('sunset', exceptions, held.consumer, moment.now) === undefined;
  });
}
