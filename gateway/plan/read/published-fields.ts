// The fields of a policy file that the gateway publishes: in headers, bodies, pages, feeds, challenges, metrics and reports.
// The one list of them. What stands there is in the file: a variable or a file of the machine could be a secret.
import { standsAt } from './values.ts';

const LIFECYCLE = ['successor', 'alternate', 'guide', 'status', 'service_doc', 'service_desc', 'reason'];
const EXCEPTIONS = ['consumer', 'why', 'by'].map((key) => `exceptions.#.${key}`);
const SCOPES = ['access.scopes.read.#', 'access.scopes.write.#'];

/** Texts and links. Left out are dates and numbers, which hold no secret, and the addresses under which an API is served. */
export const PUBLISHED_FIELDS: readonly string[] = [
  'api',
  ...LIFECYCLE.filter((field) => field !== 'successor'),
  ...['brownouts.#.message', 'limits.#.name', ...SCOPES, ...EXCEPTIONS],
  'headers.response.set.*',
  ...[...LIFECYCLE, 'after.redirect', 'brownouts.#.message', 'limits.#.name', ...SCOPES, ...EXCEPTIONS].map(
    (field) => `versions.*.${field}`,
  ),
  ...['successor', 'guide', 'reason', 'brownouts.#.message', 'limits.#.name', 'access.scopes.#'].map(
    (field) => `versions.*.operations.*.${field}`,
  ),
];

const PATTERNS = PUBLISHED_FIELDS.map((field) => field.replaceAll('#', '*').split('.'));

export function isPublished(path: readonly (string | number)[]): boolean {
  return PATTERNS.some((pattern) => standsAt(path, pattern));
}
