// The limit per client address of one gateway, asked before anything else is looked at.
// The first step of pipeline.ts.
import type { GatewayPlan } from '../plan/plan.ts';
import type { MaybePromise } from '../policy/contract.ts';
import type { Taken } from '../policy/rate-limit/limit.ts';
import { retryAfterSeconds } from '../policy/rate-limit/quota-headers.ts';
import type { Refusal } from './directive.ts';
import type { ExchangePorts } from './ports.ts';

/** Waited for only by the first of an address, where several workers count together. */
export function refuseFlood(
  clientAddress: string,
  { guard }: GatewayPlan,
  ports: Pick<ExchangePorts, 'guard'>,
): MaybePromise<Refusal | undefined> {
  if (guard === undefined) return undefined;
  const taking = ports.guard(clientAddress, guard);
  return taking instanceof Promise ? taking.then(refusalOf) : refusalOf(taking);
}

function refusalOf(taken: Taken): Refusal | undefined {
  if (taken.allowed) return undefined;
  return { reason: 'guard_limited', retryAfterSeconds: retryAfterSeconds(taken) };
}
