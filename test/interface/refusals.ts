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
  ['304 without a body where If-None-Match matches.', RESOURCES.get, SAMPLES.notModified],
  ['400 for a malformed request.', ERRORS.early, ERRORS.nothingInside],
  ['400 for plain HTTP.', SAMPLES.plain],
  ['401 for missing or invalid credentials.', TOKENS.each, TOKENS.lifetime],
  ['401 of a receiver for an invalid signature.', EVENTS.received],
  ['404 for what does not exist.', RECORDS.error, RESOURCES.remove],
  ['410 for a retired version.', SAMPLES.gone, STATES.stages],
  ['301 with Location for a retired version that is redirected.', SAMPLES.moved],
  ['500 with error, message and requestId.', ERRORS.internal],
  ['501 for a method that is not supported.', ERRORS.early],
  ['502 with error, message and service.', ERRORS.badGateway, SAMPLES.stopped],
  ['503 with Retry-After, error, message, retryAfter and estimatedRestoration.', ERRORS.maintenance],
  ['504 with error, message and timeout.', ERRORS.timeout],
  ['505 for an unsupported version of HTTP.', ERRORS.early],
  ['Errors have the status that matches, never 200.', ERRORS.nothingInside, RECORDS.error],
  ['Messages hold no stack traces, file paths or database errors.', ERRORS.nothingInside, ERRORS.internal],
  [
    'After a 5xx a client tries again, later and later; on 503 Retry-After says when.',
    EVENTS.delivered,
    ERRORS.maintenance,
  ],
]);

export const LIMIT_RULES = section('Limits', [
  ['X-RateLimit-Limit and X-RateLimit-Remaining are whole numbers.', LIMITS.quota],
  ['The size of a page is asked for by limit.', LIMITS.pageSize],
  ['An access token lives one hour at most.', TOKENS.lifetime],
  ['The time-out of an upstream stands in timeout of 504.', ERRORS.timeout],
  ['The limit of what is deprecated may be lower.', LIMITS.quota, SAMPLES.limited],
]);

export const VERSION_RULES = section('Versioning', [
  ['All is versioned from the first release.', VERSIONS.carriers, SAMPLES.active],
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
    'What renames, removes or changes a field is a new version; the old one stays as it is.',
    VERSIONS.carriers,
    SAMPLES.pinned,
  ],
  ['What adds a field is not.', RECORDS.notice],
  ['Deprecation says that, here by its instant.', VERSIONS.signals],
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
  ['What is not deprecated may have Sunset.', VERSIONS.sunsetAlone],
  ['Notice is 12 months for public APIs and 6 for internal ones.', VERSIONS.notice],
  ['Each deprecation has a guide with examples of before and after.', SAMPLES.guide, VERSIONS.notice],
  [
    'It is told by e-mail, the changelog, the status page and the dashboard as well.',
    OTHERS.mailed,
    OTHERS.changelog,
    OTHERS.status,
    OTHERS.warnings,
  ],
]);
