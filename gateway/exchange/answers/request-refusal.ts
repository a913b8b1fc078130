// Responses to requests refused for their form, their idempotency key or a limit.

import { lifecycleUrl } from '../../plan/routes/reserved-paths.ts';
import type { IdempotencyRefusal } from '../../policy/idempotency/rules.ts';
import { link } from '../../policy/lifecycle/links.ts';
import type { RateLimitRefusal } from '../../policy/rate-limit/limit.ts';
import { isLowered } from '../../policy/rate-limit/lowering.ts';
import { spanInWords } from '../../policy/spans.ts';
import type { AnswerHeaders } from '../answer-headers.ts';
import type { RequestRefusal } from '../directive.ts';
import type { Decision, RefusedFacts } from '../facts.ts';
import type { RequestGlimpse } from '../request-view.ts';
import { type ErrorDescription, refuse, unavailable } from './error-body.ts';
import { migrationMembers } from './lifecycle.ts';

/** RFC 6455 §4.2.2, RFC 9110 §15.5.22. */
const WEBSOCKET_13: AnswerHeaders = { upgrade: 'websocket', 'sec-websocket-version': '13' };

export function describeRequestRefusal(
  refusal: RequestRefusal,
  { scheme }: RequestGlimpse,
): ErrorDescription {
  switch (refusal.reason) {
    case 'request_malformed':
      return refuse(refusal.status, refusal.message);
    case 'plain_http':
      return refuse(400, 'This address accepts only HTTPS. Send the request to the https URL.');
    case 'plain_http_moved':
      return refuse(
        refusal.status,
        'This address accepts only HTTPS. The resource is at the https URL.',
        {},
        { location: refusal.location },
      );
    case 'method_unknown':
      return refuse(501, 'This request method is not supported.');
    case 'transfer_coding_unknown':
      return refuse(501, 'The only transfer coding supported is chunked.');
    case 'protocol_version_unsupported':
      return refuse(505, 'Use HTTP/1.1 or HTTP/2.');
    case 'websocket_version_unsupported':
      return refuse(426, 'The only WebSocket version supported is 13.', {}, WEBSOCKET_13);
    case 'host_unknown':
      // TLS-4: without TLS the connection cannot be misdirected.
      return refuse(
        scheme === 'http' ? 404 : 421,
        'This gateway does not answer for the host of this request.',
      );
    case 'misdirected':
      return refuse(421, 'This connection is for another host. Open one for the host of this request.');
    case 'route_unknown':
      return refuse(404, 'No API is published at this path.');
    case 'method_not_allowed':
      return refuse(405, 'This resource can only be read.', {}, { allow: refusal.allowed });
    case 'credentials_in_url':
      return refuse(
        400,
        `Credentials are not allowed in a URL. Send ${refusal.parameter} in the Authorization header.`,
      );
    case 'method_overridden':
      return refuse(
        400,
        `The ${refusal.field} header differs from the method of the request, ${refusal.method}. Send the request with the intended method.`,
      );
    case 'body_too_large':
      return refuse(413, `The body is larger than ${refusal.most} bytes, the limit of this resource.`);
    case 'overloaded':
      return {
        ...unavailable('The gateway has more requests than it can answer right now.', refusal),
        problem: REDUCED_CAPACITY,
      };
    case 'usage_unavailable':
      return unavailable('Your usage cannot be looked up right now.', refusal);
    case 'api_left_out':
      return unavailable('The policy of this API is not in force right now.', refusal);
    case 'websockets_exhausted':
      return refuse(429, 'This client has reached its limit of open WebSockets. Close one first.');
    case 'origin_not_allowed':
      return refuse(403, 'Pages of this origin may not open a WebSocket to this API.');
    default:
      return refusal satisfies never;
  }
}

const FORM = 'a string of 1 to 255 visible characters, such as Idempotency-Key: "8e03978e-40d5-43e8"';

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
        'Only identified callers may send an Idempotency-Key. Send the request without one.',
      );
    case 'idempotency_conflict':
      return refuse(
        409,
        'A request with this Idempotency-Key is still running. Send it again in a moment.',
        { retryAfter: 1 },
        { 'retry-after': '1' },
      );
    case 'idempotency_unknown':
      return refuse(
        409,
        'The outcome of the request with this Idempotency-Key is unknown. Check whether it was executed. If not, send it with another key.',
      );
    case 'idempotency_mismatch':
      return refuse(
        422,
        'This Idempotency-Key belongs to a request with another payload. Send this request with another key.',
      );
    case 'idempotency_unavailable':
      return unavailable('Idempotency keys cannot be looked up right now.', refusal);
    default:
      return refusal satisfies never;
  }
}

/** IDM-2: links the documentation of the API. */
function documented({ plan, api, version }: RefusedFacts) {
  if (api === undefined) return {};
  return { link: link(version?.schedule.serviceDoc ?? lifecycleUrl(plan.public, api.name), 'describedby') };
}

/** The registry of problem types, to which the RateLimit draft adds its own (RL-6). */
const PROBLEM_TYPES = 'https://iana.org/assignments/http-problem-types';
const QUOTA_EXCEEDED = `${PROBLEM_TYPES}#quota-exceeded`;
/** RL-6: the gateway as a whole is overloaded. */
const REDUCED_CAPACITY = {
  type: `${PROBLEM_TYPES}#temporary-reduced-capacity`,
  title: 'Temporary Reduced Capacity',
  members: {},
} satisfies ErrorDescription['problem'];

const ADDRESS = { guard_limited: 'guard', tokens_limited: 'unknown-tokens' } as const;

type CountedLimitRefusal = Exclude<RateLimitRefusal, { reason: 'limits_unavailable' }>;

export function describeLimitRefusal(refusal: CountedLimitRefusal, facts: Decision): ErrorDescription {
  const { retryAfterSeconds } = refusal;
  const wait = retryAfterSeconds === 1 ? '1 second' : `${retryAfterSeconds} seconds`;
  const names =
    refusal.reason === 'rate_limited'
      ? refusal.violated.map(({ limit }) => limit.name)
      : [ADDRESS[refusal.reason]];
  return {
    ...refuse(
      429,
      ['Rate limit exceeded.', ...reasons(refusal), `Retry in ${wait}.`].join(' '),
      { retryAfter: retryAfterSeconds, ...migration(facts) },
      { 'retry-after': String(retryAfterSeconds) },
    ),
    problem: { type: QUOTA_EXCEEDED, title: 'Quota Exceeded', members: { 'violated-policies': names } },
  };
}

function reasons(refusal: CountedLimitRefusal): readonly string[] {
  if (refusal.reason === 'guard_limited') return [];
  if (refusal.reason === 'tokens_limited') return ['This address has sent too many invalid tokens.'];
  const words: string[] = [];
  if (refusal.violated.some(({ limit }) => isLowered(limit)))
    words.push('The limit is lower because this version is deprecated.');
  if (refusal.violated.some(({ by }) => by === 'everyone'))
    words.push('This limit is shared by all callers.');
  return words;
}

function migration({ phase, version, successor }: Decision): ErrorDescription['members'] {
  if (phase?.stage !== 'deprecated' || version === undefined) return {};
  const { guide } = version.schedule;
  return migrationMembers({ ...successor, guide });
}
