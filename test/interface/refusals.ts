// Rules of the specification on errors, limits and versioning.
import {
  ERRORS,
  EVENTS,
  LIMITS,
  OTHERS,
  RECORDS,
  RESOURCES,
  SAMPLES,
  STATES,
  TOKENS,
  VERSIONS,
} from './journeys.ts';
import { section } from './rule.ts';

export const ERROR_RULES = section('Errors', [
  ['304 without a body if If-None-Match matches.', RESOURCES.get, SAMPLES.notModified],
  ['400 for a malformed request.', ERRORS.early, ERRORS.nothingInside],
  ['400 for plain HTTP.', SAMPLES.plain],
  ['401 for missing or invalid credentials.', TOKENS.each, TOKENS.lifetime],
  ['401 of a receiver for an invalid signature.', EVENTS.received],
  ['404 for a resource that does not exist.', RECORDS.error, RESOURCES.remove],
  ['410 for a retired version.', SAMPLES.gone, STATES.stages],
  ['301 with Location for a retired version that is redirected.', SAMPLES.moved],
  ['500 with error, message and requestId.', ERRORS.internal],
  ['501 for a method that is not supported.', ERRORS.early],
  ['502 with error, message and service.', ERRORS.badGateway, SAMPLES.stopped],
  ['503 with Retry-After, error, message, retryAfter and estimatedRestoration.', ERRORS.maintenance],
  ['504 with error, message and timeout.', ERRORS.timeout],
  ['505 for an unsupported version of HTTP.', ERRORS.early],
  ['Errors have the matching status, never 200.', ERRORS.nothingInside, RECORDS.error],
  ['Messages have no stack traces, file paths or database errors.', ERRORS.nothingInside, ERRORS.internal],
  [
    'After a 5xx a client retries with growing delays, and after a 503 as Retry-After says.',
    EVENTS.delivered,
    ERRORS.maintenance,
  ],
]);

export const LIMIT_RULES = section('Limits', [
  ['X-RateLimit-Limit and X-RateLimit-Remaining are whole numbers.', LIMITS.quota],
  ['The parameter limit sets the size of a page.', LIMITS.pageSize],
  ['An access token is valid for at most one hour.', TOKENS.lifetime],
  ['The body of a 504 has the time limit of the upstream in timeout.', ERRORS.timeout],
  ['The limit of a deprecated version may be lower.', LIMITS.quota, SAMPLES.limited],
]);

export const VERSION_RULES = section('Versioning', [
  ['Every API is versioned from its first release.', VERSIONS.carriers, SAMPLES.active],
  ['The version of an API is semantic.', VERSIONS.semantic],
  ['Carrier: URI path, /api/v<N>/….', VERSIONS.carriers],
  ['Carrier: Accept with the version in the vendor type.', VERSIONS.carriers],
  ['Carrier: API-Version.', VERSIONS.carriers, SAMPLES.oneRequest],
  ['Carrier: ?version=<N>.', VERSIONS.carriers],
  ['Carrier: Accept with version as a parameter.', VERSIONS.carriers],
  ['Carrier: subdomain, v<N>.<host>.', VERSIONS.carriers],
  [
    'Date-based: an account is pinned to the day of its creation, and upgrades by a header.',
    SAMPLES.pinned,
    SAMPLES.oneRequest,
  ],
  ['Two major versions run side by side during a migration.', RESOURCES.parallel],
  [
    'A renamed, removed or changed field needs a new version, and the old one stays unchanged.',
    VERSIONS.carriers,
    SAMPLES.pinned,
  ],
  ['An added field needs no new version.', RECORDS.notice],
  ['Deprecation has the instant of the deprecation.', VERSIONS.signals],
  ['Sunset is an HTTP date.', VERSIONS.signals, SAMPLES.deprecated],
  [
    'Link has deprecation, and successor-version or rel=alternate.',
    VERSIONS.signals,
    SAMPLES.deprecated,
    OTHERS.alternate,
  ],
  ['Warning is 299 with the deadline.', VERSIONS.signals, SAMPLES.deprecated],
  ['X-API-Deprecation-Info is the URL of a status page.', VERSIONS.signals, OTHERS.status],
  ['A body may have _deprecation as well.', RECORDS.notice],
  ['A version or operation that is not deprecated may have Sunset.', VERSIONS.sunsetAlone],
  ['Notice is 12 months for public APIs and 6 for internal ones.', VERSIONS.notice],
  ['Each deprecation has a guide with examples of before and after.', SAMPLES.guide, VERSIONS.notice],
  [
    'An e-mail, the changelog, the status page and the dashboard announce it as well.',
    OTHERS.mailed,
    OTHERS.changelog,
    OTHERS.status,
    OTHERS.warnings,
  ],
]);
