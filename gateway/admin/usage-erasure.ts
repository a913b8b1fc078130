// Erases the ledger records of a consumer, without its name in the audit trail.
import { createHash } from 'node:crypto';
import { readOptionalAuthor } from '../api/admin-requests.ts';
import type { ErasedAnswer } from '../api/usage-answers.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { LedgerStore } from '../policy/usage/ledger.ts';
import { instantText, jsonAnswer, malformedBody, malformedQuery } from './answers.ts';
import { type AdminRequest, type AdminWriteResult, orStoreUnavailable } from './route.ts';
import { readErasureQuery } from './usage-query.ts';

export interface ErasurePorts {
  readonly now: () => EpochMs;
  readonly ledger: Pick<LedgerStore, 'erase'>;
}

export async function eraseUsage(
  { now, ledger }: ErasurePorts,
  { query, body }: AdminRequest,
): Promise<AdminWriteResult> {
  const target = readErasureQuery(query);
  if (target.kind === 'malformed') return { answer: malformedQuery(target.problems), audit: {} };
  const read = readOptionalAuthor(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const audit = { ...read.value, subject: pseudonymOf(target.consumer) };
  return orStoreUnavailable(audit, async () => {
    const erased = await ledger.erase(target.consumer);
    const body: ErasedAnswer = { now: instantText(now()), erased };
    return { answer: jsonAnswer(200, body), audit: { ...audit, after: { erased } } };
  });
}

/** The audit trail must not keep the erased name. An auditor who knows the name can find it by its hash. */
function pseudonymOf(consumer: string): string {
  return `sha256:${createHash('sha256').update(consumer).digest('hex').slice(0, 32)}`;
}
