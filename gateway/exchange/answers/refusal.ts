// The response to each refusal. An exhaustive switch makes a missing reason a compile error.
import type { RetryLater } from '../../policy/contract.ts';
import { CARRIERS } from '../../policy/versioning/carriers.ts';
import { acceptableTypes } from '../../policy/versioning/media-type.ts';
import type { Claim, Label } from '../../policy/versioning/resolution.ts';
import type { AnswerHeaders } from '../answer-headers.ts';
import type { Refusal } from '../directive.ts';
import type { Decision, RefusedFacts } from '../facts.ts';
import type { RequestGlimpse } from '../request-view.ts';
import { CREDENTIALS, challenge, malformedText, missingText } from './challenge.ts';
import { type ErrorDescription, refuse, unavailable } from './error-body.ts';
import { describeLifecycleRefusal } from './lifecycle.ts';
import {
  describeIdempotencyRefusal,
  describeLimitRefusal,
  describeRequestRefusal,
} from './request-refusal.ts';

export function describeRefusal(
  refusal: Refusal,
  facts: RefusedFacts,
  glimpse: RequestGlimpse,
): ErrorDescription {
  switch (refusal.reason) {
    case 'version_ambiguous':
      return refuse(
        400,
        `The request names different versions: ${refusal.claims.map(claimText).join(', ')}. Send one.`,
      );
    case 'version_malformed':
      return refuseVersion(
        CARRIERS[refusal.claim.carrier].unknownStatus,
        `${claimText(refusal.claim)} is not a version.`,
        refusal.known,
        acceptable(refusal, facts),
      );
    case 'version_unknown':
      return refuseVersion(
        statusOfUnknown(refusal.claim, facts),
        `There is no such version: ${claimText(refusal.claim)}.`,
        refusal.known,
        acceptable(refusal, facts),
      );
    case 'version_missing':
      return refuseVersion(400, 'The request names no version.', refusal.known);
    case 'version_unacceptable':
      return refuseVersion(406, 'The Accept header excludes every version that is served.', refusal.known);
    case 'pins_unavailable':
      return describeUnavailablePins(refusal, facts);
    case 'version_retired':
      return explainPin(describeLifecycleRefusal(refusal), facts);
    case 'version_moved':
    case 'brownout':
    case 'adoption_frozen':
      return describeLifecycleRefusal(refusal, glimpse.host);
    case 'maintenance':
      return unavailable('This service is down for maintenance.', refusal);
    case 'credentials_missing':
      return challenge(401, missingText(facts), refusal, facts);
    case 'credentials_malformed':
      return challenge(400, malformedText(refusal.field), refusal, facts);
    case 'token_invalid':
      return challenge(401, `${refusal.description}.`, refusal, facts);
    case 'key_invalid':
      return challenge(401, 'The API key is not valid.', refusal, facts);
    case 'certificate_invalid':
      return challenge(401, 'The client certificate does not name a consumer.', refusal, facts);
    case 'scope_insufficient': {
      const what = CREDENTIALS[refusal.via];
      return challenge(403, `The ${what} lacks a scope: ${refusal.required.join(' ')}.`, refusal, facts);
    }
    case 'operation_not_granted':
      return challenge(403, 'No scope grants access to this operation.', refusal, facts);
    case 'rate_limited':
    case 'guard_limited':
    case 'tokens_limited':
      return describeLimitRefusal(refusal, facts);
    case 'limits_unavailable':
      return unavailable('Requests cannot be counted right now.', refusal);
    case 'precondition_failed':
      return refuse(
        412,
        'The deprecation notice of this resource has changed since the client read it. Read the resource again.',
      );
    case 'idempotency_key_missing':
    case 'idempotency_key_malformed':
    case 'idempotency_key_anonymous':
    case 'idempotency_conflict':
    case 'idempotency_unknown':
    case 'idempotency_mismatch':
    case 'idempotency_unavailable':
      return describeIdempotencyRefusal(refusal, facts);
    default:
      return describeRequestRefusal(refusal, glimpse);
  }
}

function claimText({ carrier, value }: Claim): string {
  return `"${value.slice(0, 80)}" in the ${CARRIERS[carrier].title ?? carrier}`;
}

/** STAT-2: the response lists the served versions. */
function refuseVersion(
  status: number,
  message: string,
  known: readonly Label[],
  headers: AnswerHeaders = {},
): ErrorDescription {
  const versions = known.length === 0 ? '' : ` Versions: ${known.join(', ')}.`;
  return refuse(status, message + versions, { supportedVersions: known }, headers);
}

/** NEG-8: a refusal of a content type lists the accepted ones. */
function acceptable(
  { claim, known }: { readonly claim: Claim; readonly known: readonly Label[] },
  { api }: RefusedFacts,
): AnswerHeaders {
  if (claim.carrier !== 'content_type' || api === undefined || known.length === 0) return {};
  return { accept: acceptableTypes(api.resolution.mediaTypes, known) };
}

/**
 * STAT-1: an unknown version in a URL is 404, in a media type 406 or 415, elsewhere 400. An API may choose 400, 404 or
 * 406 instead, except for a body that cannot be read (415).
 */
function statusOfUnknown(claim: Claim, { api }: Decision): number {
  const usual = CARRIERS[claim.carrier].unknownStatus;
  return usual === 415 ? usual : (api?.unknownVersionStatus ?? usual);
}

/** Tells the caller the alternative: a request that names its version needs no pin. */
function describeUnavailablePins(refusal: RetryLater, facts: Decision): ErrorDescription {
  const message = `The version of this account cannot be looked up right now. Name a version${versionHeaderHint(facts)}.`;
  return unavailable(message, refusal);
}

function explainPin(description: ErrorDescription, facts: Decision): ErrorDescription {
  if (facts.carrier !== 'pin' || facts.version === undefined) return description;
  const { label } = facts.version;
  const message = `${description.message} This account is pinned to ${label}: name another version${versionHeaderHint(facts)}.`;
  return { ...description, message };
}

function versionHeaderHint({ api }: Decision): string {
  const [header] = api?.resolution.header === undefined ? [] : api.versionFields;
  return header === undefined ? '' : ` in ${header}`;
}
