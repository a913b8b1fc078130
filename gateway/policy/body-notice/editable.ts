// Decides from status and headers whether a response body may be edited (BODY-1).
import type { FieldRecord } from '../contract.ts';

export type NoticeOutcome =
  | 'added'
  | 'not_json'
  | 'not_object'
  | 'malformed'
  | 'own_member'
  | 'too_large'
  | 'coding'
  | 'no_transform'
  | 'partial'
  | 'digest';

/** The gateway decodes these if an upstream uses one although the request asked for identity (BODY-3). */
const CODINGS = ['gzip', 'deflate', 'br', 'zstd'] as const;
export type Coding = (typeof CODINGS)[number];

/** Most bytes that the gateway buffers of one body, encoded or decoded. */
export const MAX_BYTES = 1024 * 1024;

export type HeadJudgement =
  | { readonly kind: 'editable'; readonly coding: Coding | undefined }
  | { readonly kind: 'left'; readonly why: NoticeOutcome };

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH']);
const STATUSES: ReadonlySet<number> = new Set([200, 201, 202]);

const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)$/;
/** Types whose members are standardised, whose content is signed, or that are no single JSON text. */
const OTHER_SHAPES: ReadonlySet<string> = new Set([
  'application/problem+json',
  'application/linkset+json',
  'application/jrd+json',
  'application/jwk+json',
  'application/jwk-set+json',
  'application/jose+json',
  'application/sd-jwt+json',
  'application/merge-patch+json',
  'application/stream+json',
]);
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^\s;"]*)/gi;
const NO_TRANSFORM = /(?<![\w-])no-transform(?![\w-])/i;

/** HEAD gets the headers of an edited GET (BODY-7). */
export function isEdited(method: string): boolean {
  return METHODS.has(method);
}

export function judgeHead(status: number, headers: FieldRecord): HeadJudgement | undefined {
  if (!STATUSES.has(status)) return undefined;
  const why = reasonNotToEdit(headers);
  if (why !== undefined) return { kind: 'left', why };
  const coding = codingOf(headers['content-encoding']);
  return coding === 'unknown' ? { kind: 'left', why: 'coding' } : { kind: 'editable', coding };
}

function reasonNotToEdit(headers: FieldRecord): NoticeOutcome | undefined {
  if (!isJson(textOf(headers['content-type']))) return 'not_json';
  if (NO_TRANSFORM.test(textOf(headers['cache-control']))) return 'no_transform';
  if (headers['content-range'] !== undefined) return 'partial';
  return Number(textOf(headers['content-length'])) > MAX_BYTES ? 'too_large' : undefined;
}

/** RFC 8259 §8.1: JSON is UTF-8. A body with another charset is left unchanged. */
function isJson(contentType: string): boolean {
  const [type = ''] = contentType.split(';', 1);
  const essence = type.trim().toLowerCase();
  if (!JSON_TYPE.test(essence) || OTHER_SHAPES.has(essence)) return false;
  return Array.from(contentType.matchAll(CHARSET)).every(([, charset = '']) => /^utf-?8$/i.test(charset));
}

function codingOf(field: FieldRecord[string]): Coding | undefined | 'unknown' {
  const coding = textOf(field).trim().toLowerCase();
  if (coding === '' || coding === 'identity') return undefined;
  if (coding === 'x-gzip') return 'gzip';
  return CODINGS.find((known) => known === coding) ?? 'unknown';
}

function textOf(field: FieldRecord[string]): string {
  return typeof field === 'string' ? field : (field?.join(', ') ?? '');
}
