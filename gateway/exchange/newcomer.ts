// Whether a frozen version is closed to this consumer: asked of the ledger only where the day has passed and nothing
// written lets the consumer in. Called by the pipeline once the consumer is known.
import type { VersionRules } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import type { MaybePromise } from '../policy/contract.ts';
import { isClosedTo, refuseAdoption } from '../policy/lifecycle/freeze.ts';
import type { Refusal } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';
import type { ExchangePorts } from './ports.ts';

/** At once for a consumer that is known; who is known by an address alone is not judged. */
export function refuseNewcomer(
  version: VersionRules,
  consumer: Consumer | undefined,
  { now, successor }: Pick<ExchangeFacts, 'now' | 'successor'>,
  { adoption }: Pick<ExchangePorts, 'adoption'>,
): MaybePromise<Refusal | undefined> {
  const { freeze, api, label } = version;
  if (freeze === undefined || consumer === undefined) return undefined;
  if (!isClosedTo(version, freeze, consumer, now)) return undefined;
  const refusal = (late: boolean) => (late ? refuseAdoption(version, freeze, successor) : undefined);
  const late = adoption.isLate({ consumer: consumer.id, api, version: label }, freeze);
  return late instanceof Promise ? late.then(refusal) : refusal(late);
}
