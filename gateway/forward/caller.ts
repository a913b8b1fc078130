// Who calls, as far as a target is chosen by it: the consumer, else the address.
// Read by both ways of forwarding.
import type { Decision } from '../exchange/facts.ts';
import type { Inbound } from './inbound.ts';

export function callerOf({ consumer }: Decision, { view }: Inbound): string {
  return consumer?.id ?? view.clientAddress;
}
