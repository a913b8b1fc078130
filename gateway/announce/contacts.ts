// Where a consumer is written to: what the policy file says, else the contact of its newest API key that still works.
// Looked up once per look; an address that does not read as one is none.
import type { GatewayPlan } from '../plan/plan.ts';
import type { KeyRecord } from '../policy/authentication/key-record.ts';
import type { EpochMs } from '../policy/contract.ts';
import { parseMail } from '../policy/notation.ts';
import type { Caller } from './callers.ts';

/** Undefined: nobody knows. `api`: of what it is told. */
export type ContactOf = (caller: Pick<Caller, 'consumer' | 'byKey'>, api: string) => string | undefined;

export function contactsFrom(
  plan: Pick<GatewayPlan, 'apis'>,
  keys: readonly KeyRecord[],
  now: EpochMs,
): ContactOf {
  const byKey = new Map<string, string>();
  for (const key of keys.toSorted((a, b) => a.created - b.created))
    if (key.contact !== undefined && isWorking(key, now)) byKey.set(key.consumer, key.contact);
  return ({ consumer, byKey: isKeyed }, api) => {
    // Of that API before any other one: an owner may know somebody that others do not.
    const [own, others] = [plan.apis.filter(({ name }) => name === api), plan.apis];
    const written = [...own, ...others].map(({ contacts }) => contacts.get(consumer));
    const found = written.find((each) => each !== undefined) ?? (isKeyed ? byKey.get(consumer) : undefined);
    return found === undefined ? undefined : parseMail(found);
  };
}

function isWorking({ revoked, expires }: KeyRecord, now: EpochMs): boolean {
  return revoked === undefined && (expires === undefined || now < expires);
}
