// Whether a frozen version is closed to this consumer: asked of the ledger only where the day has passed and nothing
// written lets the consumer in. Called by the pipeline once the consumer is known, whose call then counts.
import type { VersionRules } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import type { EpochMs, MaybePromise } from '../policy/contract.ts';
import { isClosedTo, refuseAdoption } from '../policy/lifecycle/freeze.ts';
import type { Successor } from '../policy/lifecycle/retirement.ts';
import type { Refusal } from './directive.ts';
import type { ExchangePorts } from './ports.ts';

/** Far longer than what was counted can be on its way to the store while that answers. */
const REMEMBERED_MS = 3_600_000;

/** At once for a consumer that is known; who is known by an address alone is not judged. */
export function refuseNewcomer(
  version: VersionRules,
  consumer: Consumer | undefined,
  now: EpochMs,
  successor: Successor,
  { adoption }: Pick<ExchangePorts, 'adoption'>,
): MaybePromise<Refusal | undefined> {
  const { freeze, api, label } = version;
  if (freeze === undefined || consumer === undefined) return undefined;
  const adopter = { consumer: consumer.id, api, version: label };
  if (now < freeze && now >= freeze - REMEMBERED_MS) adoption.saw(adopter, now);
  if (!isClosedTo(version, freeze, consumer, now)) return undefined;
  const refusal = (late: boolean) => (late ? refuseAdoption(version, freeze, successor) : undefined);
  const late = adoption.isLate(adopter, freeze, now);
  return late instanceof Promise ? late.then(refusal) : refusal(late);
}
