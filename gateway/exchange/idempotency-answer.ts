// What a client is told whose idempotency key stood in its way, and what it may do about it.
// A part of refusal-answer.ts.
import { spanInWords } from '../plan/changes/spans.ts';
import { lifecycleUrl } from '../plan/reserved-paths.ts';
import type { IdempotencyRefusal } from '../policy/idempotency/rules.ts';
import { link } from '../policy/lifecycle/links.ts';
import { type ErrorDescription, refuse, unavailable } from './error-body.ts';
import type { RefusedFacts } from './facts.ts';

const FORM = 'a string of 1 to 255 visible characters, such as Idempotency-Key: "8e03978e-40d5-43e8"';

/** Status, message, members and own header lines (IDM-1 to IDM-8). */
export function describeIdempotencyRefusal(
  refusal: IdempotencyRefusal,
  facts: RefusedFacts,
): ErrorDescription {
  switch (refusal.reason) {
    case 'idempotency_key_missing':
      return refuse(
        400,
        `This request needs an Idempotency-Key: ${FORM}. It is kept for ${spanInWords(0, refusal.keepMs)}.`,
        {},
        documented(facts),
      );
    case 'idempotency_key_malformed':
      return refuse(400, `The Idempotency-Key is malformed: send one line, ${FORM}.`, {}, documented(facts));
    case 'idempotency_key_anonymous':
      return refuse(
        400,
        'An Idempotency-Key is taken from callers that are known only. Send the request without one.',
      );
    case 'idempotency_conflict':
      return refuse(
        409,
        'A request with this Idempotency-Key is still being carried out. Send the same again in a moment.',
        { retryAfter: 1 },
        { 'retry-after': '1' },
      );
    case 'idempotency_unknown':
      return refuse(
        409,
        'What came of the request with this Idempotency-Key is not known. Look whether it was carried out; if it was not, send it with another key.',
      );
    case 'idempotency_mismatch':
      return refuse(
        422,
        'This Idempotency-Key belongs to a request with another payload. Send this one with a key of its own.',
      );
    case 'idempotency_unavailable':
      return unavailable('Idempotency keys cannot be looked up right now.', refusal);
    default:
      return refusal satisfies never;
  }
}

/** IDM-2: where it says how the API is called. */
function documented({ plan, api, version }: RefusedFacts) {
  if (api === undefined) return {};
  return { link: link(version?.schedule.serviceDoc ?? lifecycleUrl(plan.public, api.name), 'describedby') };
}
