// Refusals to answers: one exhaustive switch, so that a new reason cannot be forgotten.
// Called by exchange.ts for refusals of the listener and of the pipeline.
import { challengeFor } from '../policy/authentication/challenge.ts';
import type { EpochMs } from '../policy/contract.ts';
import { dayOf } from '../policy/notation.ts';
import type { Claim, Label } from '../policy/versioning/resolution.ts';
import type { AnswerHeaders } from './decorate.ts';
import type { Refusal } from './directive.ts';
import {
  BRIEFLY_CACHEABLE,
  type ErrorDescription,
  NO_STORE,
  proxyStatus,
  unavailable,
} from './error-body.ts';
import type { ExchangeFacts } from './facts.ts';
import type { RequestView } from './request-view.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Status, message, members and own header lines of a refusal; the table of standards §3.4, §4, §12, §13, §17.
 * `view` is undefined for a request that could not be read.
 */
export function describeRefusal(
  refusal: Refusal,
  facts: ExchangeFacts,
  view?: RequestView,
): ErrorDescription {
  switch (refusal.reason) {
    case 'request_malformed':
      return refuse(refusal.status, refusal.message);
    case 'plain_http':
      return refuse(400, 'This address speaks HTTPS only. Send the request to the https URL.');
    case 'method_unknown':
      return refuse(501, 'This request method is not supported.');
    case 'transfer_coding_unknown':
      return refuse(501, 'The only transfer coding supported is chunked.');
    case 'protocol_version_unsupported':
      return refuse(505, 'Use HTTP/1.1 or HTTP/2.');
    case 'host_unknown':
      // TLS-4: where no certificate speaks for a host there is no connection to be misdirected on.
      return refuse(
        view?.scheme === 'http' ? 404 : 421,
        'This gateway does not answer for the host of this request.',
      );
    case 'route_unknown':
      return refuse(404, 'No API is published at this path.');
    case 'credentials_in_url':
      return refuse(
        400,
        `Credentials do not belong in a URL: send ${refusal.parameter} in the Authorization header.`,
      );
    case 'version_ambiguous':
      return refuse(
        400,
        `The request names different versions: ${refusal.claims.map(spellClaim).join(', ')}. Send one.`,
      );
    case 'version_malformed':
      return refuse(
        statusOfCarrier(refusal.claim),
        `${spellClaim(refusal.claim)} is not a version.${spellKnown(refusal.known)}`,
        supported(refusal.known),
      );
    case 'version_unknown':
      return refuse(
        statusOfCarrier(refusal.claim),
        `There is no such version: ${spellClaim(refusal.claim)}.${spellKnown(refusal.known)}`,
        supported(refusal.known),
      );
    case 'version_missing':
      return refuse(
        400,
        `The request names no version.${spellKnown(refusal.known)}`,
        supported(refusal.known),
      );
    case 'version_retired':
      return retired(410, refusal.label, refusal.since, {
        replacement: refusal.replacement,
        guide: refusal.guide,
        because: refusal.because,
      });
    case 'version_moved':
      return retired(refusal.status, refusal.label, refusal.since, {
        replacement: refusal.location,
        guide: refusal.guide,
        location: refusal.location,
      });
    case 'credentials_missing':
      return challenge(
        401,
        'This API needs an access token: send Authorization: Bearer <token>.',
        refusal,
        facts,
      );
    case 'credentials_malformed':
      return challenge(
        400,
        'The Authorization header is malformed: send one line, Bearer <token>.',
        refusal,
        facts,
      );
    case 'token_invalid':
      return challenge(401, `${refusal.description}.`, refusal, facts);
    case 'scope_insufficient':
      return challenge(403, `The access token lacks a scope: ${refusal.required.join(' ')}.`, refusal, facts);
    case 'rate_limited':
    case 'guard_limited':
      return refuse(
        429,
        `Rate limit exceeded. Retry in ${seconds(refusal.retryAfterSeconds)}.`,
        { retryAfter: refusal.retryAfterSeconds, ...migration(facts) },
        { 'retry-after': String(refusal.retryAfterSeconds) },
      );
    case 'limits_unavailable':
      return unavailable(
        'Requests cannot be counted right now.',
        refusal.retryAfterSeconds,
        refusal.restoredAt,
      );
    default: {
      const never: never = refusal;
      throw new Error(`unhandled refusal ${JSON.stringify(never)}`);
    }
  }
}

function refuse(
  status: number,
  message: string,
  members: Members = {},
  headers: AnswerHeaders = {},
  error = 'http_request_error',
): ErrorDescription {
  return {
    status,
    message,
    members,
    headers: { 'cache-control': NO_STORE, 'proxy-status': proxyStatus(error), ...headers },
  };
}

/** 410, 301 and 308 say where to go; they are public facts and cacheable for a minute (RET-7, RET-8). */
function retired(
  status: 301 | 308 | 410,
  label: Label,
  since: EpochMs,
  to: {
    replacement: string | undefined;
    guide: string | undefined;
    because?: string | undefined;
    location?: string;
  },
): ErrorDescription {
  const members: Record<string, string> = {};
  if (to.replacement !== undefined) members.replacement = to.replacement;
  if (to.guide !== undefined) members.migration_guide = to.guide;
  if (to.because !== undefined) members.reason = to.because;
  const headers: AnswerHeaders = { 'cache-control': BRIEFLY_CACHEABLE };
  if (to.location !== undefined) headers.location = to.location;
  return refuse(
    status,
    `API version ${label} was retired on ${dayOf(since)}.`,
    members,
    headers,
    'proxy_internal_response',
  );
}

function challenge(
  status: number,
  message: string,
  refusal: Parameters<typeof challengeFor>[0],
  facts: ExchangeFacts,
): ErrorDescription {
  const value = challengeFor(refusal, { realm: facts.api?.name ?? 'api' });
  const error = status === 403 ? 'http_request_denied' : 'http_request_error';
  return refuse(status, message, {}, { 'www-authenticate': value }, error);
}

/** A limit met on a deprecated version says where the room is. */
function migration(facts: ExchangeFacts): Members {
  if (facts.phase?.stage !== 'deprecated') return {};
  const guide = facts.version?.schedule.guide;
  return {
    ...(facts.successorUrl === undefined ? {} : { replacement: facts.successorUrl }),
    ...(guide === undefined ? {} : { migration_guide: guide }),
  };
}

/** STAT-1: what a path names and does not exist is not found; a header that names it is a bad request. */
function statusOfCarrier(claim: Claim): number {
  return claim.carrier === 'path' ? 404 : 400;
}

function spellClaim(claim: Claim): string {
  return `"${claim.value.slice(0, 40)}" in the ${claim.carrier}`;
}

function spellKnown(known: readonly Label[]): string {
  return known.length === 0 ? '' : ` Versions: ${known.join(', ')}.`;
}

function supported(known: readonly Label[]): Members {
  return { supportedVersions: known };
}

function seconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`;
}
