// Where a consumer is written to: what the policy file says, else the contact of its newest API key that still works.
// Looked up once per look; an address that does not read as one is none.
import type { GatewayPlan } from '../plan/plan.ts';
import type { KeyRecord } from '../policy/authentication/key-record.ts';
import { parseMail } from '../policy/notation.ts';
import type { Caller } from './callers.ts';

/** Undefined: nobody knows. */
export type ContactOf = (caller: Caller) => string | undefined;

export function contactsFrom(plan: Pick<GatewayPlan, 'apis'>, keys: readonly KeyRecord[]): ContactOf {
  const byKey = new Map<string, string>();
  for (const { consumer, contact, revoked } of keys.toSorted((a, b) => a.created - b.created))
    if (contact !== undefined && revoked === undefined) byKey.set(consumer, contact);
  return ({ consumer, byKey: isKeyed, told }) => {
    const apis = new Set(told.map(({ notice }) => notice.rules.api));
    // Of an API that it calls before any other one: an owner may know somebody that others do not.
    const [own, others] = [plan.apis.filter(({ name }) => apis.has(name)), plan.apis];
    const written = [...own, ...others].map(({ contacts }) => contacts.get(consumer));
    const found = written.find((each) => each !== undefined) ?? (isKeyed ? byKey.get(consumer) : undefined);
    return found === undefined ? undefined : parseMail(found);
  };
}
