// The request fields that answers of an API, a version or an operation depend on.
import type { AccessRule } from '../../policy/authentication/access.ts';
import { ANY_ORIGIN } from '../../policy/cors/origin.ts';
import type { PolicyFile } from '../../sections/policy-file.ts';
import { versionFieldsOf } from '../../sections/resolve/compile.ts';

/** CACHE-2: each field once, whether or not a request has it. */
export function varyOf(file: PolicyFile, access: AccessRule): string {
  const origin = file.cors === undefined || file.cors.origins.includes(ANY_ORIGIN) ? [] : ['Origin'];
  const credentials = access.kind === 'public' || access.vary === '' ? [] : access.vary.split(', ');
  const fields = [...versionFieldsOf(file), ...origin, ...credentials];
  const lower = fields.map((each) => each.toLowerCase());
  return fields.filter((_, at) => lower.indexOf(lower[at] ?? '') === at).join(', ');
}
