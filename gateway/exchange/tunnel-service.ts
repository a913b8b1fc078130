// What stays open after its answer, a WebSocket, and whether its version and its token still allow that.
import type { GatewayPlan } from '../plan/plan.ts';
import { tokenEndOf } from '../policy/authentication/consumer.ts';
import type { EpochMs } from '../policy/contract.ts';
import { assess, type StageInput } from '../policy/lifecycle/assess.ts';
import { exceptionFrom } from '../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../policy/lifecycle/phases.ts';
import { hasEnded } from '../policy/lifecycle/retirement.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import type { Decision } from './facts.ts';

/** Names instead of the objects of a plan: after a reload there are others. */
export interface TunnelService {
  readonly api: string;
  readonly version: Label;
  /** Operations with rules of their own that any reading of the path reached; undefined for the version as a whole. */
  readonly operations: readonly (string | undefined)[];
  readonly consumer: { readonly id: string } | undefined;
  /** By the real clock; undefined for access without a token. */
  readonly tokenEnd: EpochMs | undefined;
  readonly isRevoked: (() => boolean) | undefined;
}

/** Why something is no longer kept open. */
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

/** WS-6: what a request for the same, with the same token, would be refused for now. `wallNow`: the real clock. */
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
 * Whether a request for the same would find its version ended now: by its dates, extensions and pauses included, for
 * this consumer, or because the plan no longer has it. A brownout ends nothing that is open, and an API that is only
 * observed ends nothing at all.
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
