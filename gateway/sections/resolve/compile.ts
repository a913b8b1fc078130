// Compiles `resolve` into look-ups, and lists the headers that carry a version.
import type { ApiPlan } from '../../plan/plan.ts';
import { CARRIERS, NAMED_CARRIERS, type NamedCarrier, namesBy } from '../../policy/versioning/carriers.ts';
import {
  type PathInTail,
  type PinRule,
  type ResolutionRules,
  UNVERSIONED,
} from '../../policy/versioning/resolution.ts';
import { createResolutionRules } from '../../policy/versioning/rules.ts';
import type { PolicyFile } from '../policy-file.ts';
import { DEFAULT_VERSION_HEADER } from './grammar.ts';

type Entry = NonNullable<PolicyFile['resolve']>[number];
type Carrier = NamedCarrier | 'path' | 'subdomain' | 'pin' | 'default' | 'match' | 'ignore';

/** The value of a carrier that may be listed once. */
export function carrier<K extends Carrier>(file: PolicyFile, kind: K): Entry[K] {
  return file.resolve?.map((entry) => entry[kind]).find((value) => value !== undefined);
}

export function compileResolve(
  file: PolicyFile,
): Pick<
  ApiPlan,
  'resolution' | 'rewriteContentType' | 'unknownVersionStatus' | 'versionFields' | 'versionHeaders'
> {
  return {
    resolution: resolutionOf(file),
    rewriteContentType: file.rewrite_content_type ?? false,
    unknownVersionStatus: file.unknown_version_status,
    versionFields: versionFieldsOf(file),
    versionHeaders: versionHeadersOf(file),
  };
}

function resolutionOf(file: PolicyFile): ResolutionRules {
  return createResolutionRules({
    labels: file.versions === 'none' ? [UNVERSIONED] : Object.keys(file.versions),
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

/** Includes the default header even if the API does not read it, because an upstream may. */
function versionHeadersOf(file: PolicyFile): readonly string[] {
  if (file.versions === 'none') return [];
  const header = carrier(file, 'header') ?? DEFAULT_VERSION_HEADER;
  return [...new Set([DEFAULT_VERSION_HEADER.toLowerCase(), header.toLowerCase()])];
}

function compilePin(pin: Entry['pin']): PinRule | undefined {
  if (pin === undefined) return undefined;
  const { by = 'consumer', created, match = 'floor' } = pin;
  return { account: by === 'consumer' ? undefined : by, created, match };
}
