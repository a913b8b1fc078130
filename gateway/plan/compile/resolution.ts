// The `resolve` list of one policy file as look-ups, and the headers that carry a version by it.
import type { AccessRule } from '../../policy/authentication/access.ts';
import { CARRIERS, NAMED_CARRIERS, type NamedCarrier, namesBy } from '../../policy/versioning/carriers.ts';
import type { Label, PathInTail, PinRule, ResolutionRules } from '../../policy/versioning/resolution.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import { ANY_ORIGIN } from '../grammar/cors-section.ts';
import type { PolicyFile } from '../grammar/policy-grammar.ts';

/** Tells an upstream the version unless it wants another header or none. */
export const DEFAULT_VERSION_HEADER = 'API-Version';

type Entry = NonNullable<PolicyFile['resolve']>[number];
type Carrier = NamedCarrier | 'path' | 'subdomain' | 'pin' | 'default' | 'match' | 'ignore';

/** What the file says of a carrier that may be listed once. */
export function carrier<K extends Carrier>(file: PolicyFile, kind: K): Entry[K] {
  return file.resolve?.map((entry) => entry[kind]).find((value) => value !== undefined);
}

export function compileResolution(file: PolicyFile, labels: readonly Label[]): ResolutionRules {
  return createResolutionRules({
    labels,
    ...namesBy((key) => carrier(file, key)),
    default: carrier(file, 'default'),
    ignore: carrier(file, 'ignore'),
    pathInTail: pathInTail(file),
    mediaTypes: file.resolve?.flatMap((entry) => entry.media_type ?? []) ?? [],
    match: carrier(file, 'match'),
    pin: compilePin(carrier(file, 'pin')),
  });
}

function pathInTail(file: PolicyFile): PathInTail | undefined {
  const base = file.base?.replace(/\/$/, '');
  const path = carrier(file, 'path');
  if (base === undefined || path === undefined || !path.startsWith(`${base}/`)) return undefined;
  const [before = '', after = ''] = path.slice(base.length).split('/{version}');
  return { before, after };
}

export function versionFieldsOf(file: PolicyFile): readonly string[] {
  const named = NAMED_CARRIERS.flatMap((key) => {
    const name = carrier(file, key);
    return name === undefined ? [] : (CARRIERS[key].headerOf?.(name) ?? []);
  });
  const accepts = file.resolve?.some((entry) => entry.media_type !== undefined) ?? false;
  return [...named, ...(accepts ? ['Accept'] : [])];
}

/** CACHE-2: each field once, whether or not a request has it. */
export function varyOf(file: PolicyFile, access: AccessRule): string {
  const origin = file.cors === undefined || file.cors.origins.includes(ANY_ORIGIN) ? [] : ['Origin'];
  const credentials = access.kind === 'public' || access.vary === '' ? [] : access.vary.split(', ');
  const fields = [...versionFieldsOf(file), ...origin, ...credentials];
  const lower = fields.map((each) => each.toLowerCase());
  return fields.filter((_, at) => lower.indexOf(lower[at] ?? '') === at).join(', ');
}

/** The usual header too, whether the API reads it or not: an upstream may. */
export function versionHeadersOf(file: PolicyFile): readonly string[] {
  if (file.versions === 'none') return [];
  const header = carrier(file, 'header') ?? DEFAULT_VERSION_HEADER;
  return [...new Set([DEFAULT_VERSION_HEADER.toLowerCase(), header.toLowerCase()])];
}

function compilePin(pin: Entry['pin']): PinRule | undefined {
  if (pin === undefined) return undefined;
  const { by = 'consumer', created, match = 'floor' } = pin;
  return { account: by === 'consumer' ? undefined : by, created, match };
}
