// Resolves the versions that media types name, for tests.
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { parseTemplate } from '../../gateway/policy/versioning/media-type.ts';
import { readEvidence } from '../../gateway/policy/versioning/readers.ts';
import type { MediaTemplate, Resolution } from '../../gateway/policy/versioning/resolution.ts';
import { resolveVersion } from '../../gateway/policy/versioning/resolve.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';

export const template = (text: string): MediaTemplate => {
  const parsed = parseTemplate(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};

export const NAME = template('application/vnd.acme.{version}+json');
export const PARAMETER = template('application/vnd.acme+json; version={n}');
export const mediaTypes = [NAME, PARAMETER];
export const options = { labels: ['v0', 'v1', 'v2', 'v9'], header: undefined, mediaTypes };
const rules = createResolutionRules({ ...options, default: 'v2' });
export const strict = createResolutionRules({ ...options, default: undefined });
export const isReleased = (label: string) => label !== 'v9';

/** v0 has ended. */
const isServed = (label: string) => label !== 'v0' && isReleased(label);

export const moment = { now: Date.UTC(2026, 10, 20), isReleased, isServed, mayAnswer: isServed };

interface Request {
  readonly accept?: string;
  readonly type?: string;
  readonly method?: string;
  readonly pathSegment?: string;
}

export function resolve({ accept, type, method = 'GET', pathSegment }: Request, by = rules): Resolution {
  const headers = new RecordFields({ accept, 'content-type': type });
  const evidence = readEvidence(by, {
    method,
    pathSegment,
    subdomain: undefined,
    tail: '',
    search: '',
    headers,
  });
  return resolveVersion(by, evidence, moment);
}

/** `v1 by accept`, or `version_unknown v7`. */
export function told(resolution: Resolution): string {
  if (resolution.kind === 'resolved') return `${resolution.label} by ${resolution.carrier}`;
  if (resolution.kind === 'open') return 'open';
  const { refusal } = resolution;
  if (refusal.reason === 'version_ambiguous')
    return refusal.claims.map(({ value }) => value).join(' against ');
  return 'claim' in refusal ? `${refusal.reason} ${refusal.claim.value}` : refusal.reason;
}

export const v = (version: string) => `application/vnd.acme.${version}+json`;
export const n = (version: string) => `application/vnd.acme+json;version=${version}`;
export const isV1 = ({ value }: { readonly value: string }) => value === 'v1' || value === '1';
