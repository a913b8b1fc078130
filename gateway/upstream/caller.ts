// Who calls, as far as a target is chosen by it: the consumer, else the address.
// Read by both ways of forwarding.
import type { ExchangeFacts } from '../exchange/facts.ts';
import type { Inbound } from '../plane/general/request/inbound.ts';

export function callerOf({ consumer }: Pick<ExchangeFacts, 'consumer'>, { view }: Inbound): string {
  return consumer?.id ?? view.clientAddress;
}
