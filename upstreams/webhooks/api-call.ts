// One API request with its parts, and the responses that several routes share.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError, sendText } from '../service/answer.ts';
import type { Attempts } from '../service/attempts.ts';
import { type JsonObject, readObject } from '../service/body.ts';
import { type ListNames, readFields, refuseNames } from '../service/list-query.ts';
import { isWrittenIn, JSON_TYPE } from '../service/media.ts';
import { judge, tagOf, validatorHeaders } from '../service/validators.ts';
import type { EpochMs } from './delivery.ts';
import type { HealthRules } from './health.ts';
import type { CheckUrl } from './read-subscription.ts';
import type { WebhookStore } from './store.ts';

export interface ApiParts {
  readonly store: WebhookStore;
  readonly checkUrl: CheckUrl;
  /** WH-2: a new secret, and its stored form. */
  readonly newSecret: () => { readonly secret: string; readonly sealed: string };
  /** A unique id without dots. */
  readonly newId: (prefix: string) => string;
  readonly rules: HealthRules;
  readonly manualDeliveries: Attempts;
  readonly now: () => EpochMs;
}

export interface Call {
  readonly parts: ApiParts;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly owner: string;
  readonly query: URLSearchParams;
}

/** Handlers by method; GET also answers HEAD. */
export type Methods = Readonly<Partial<Record<string, () => Promise<void>>>>;

/** Responses belong to one owner and are revalidated each time. */
export const CACHE_CONTROL = 'private, no-cache';

/** The object in the body; undefined after a refusal has been sent. */
export async function readBody(
  { request, response }: Call,
  { types = [JSON_TYPE], isOptional = false }: { types?: readonly string[]; isOptional?: boolean } = {},
): Promise<JsonObject | undefined> {
  if (!isWrittenIn(types, request.headers)) {
    sendError(response, 415, `The body must be ${types.join(' or ')} in UTF-8`);
    return undefined;
  }
  const body = await readObject(request, { isOptional });
  if (body.kind === 'object') return body.value;
  sendError(response, body.status, body.message);
  return undefined;
}

/** Counts a test event or replay; true if there were too many and 429 has been sent. */
export function isRateLimited({ parts, owner, response }: Call): boolean {
  const wait = parts.manualDeliveries.take(owner);
  if (wait === undefined) return false;
  const message = `Too many test events and replays in a minute; try again in ${wait} seconds`;
  sendError(response, 429, message, { 'Retry-After': String(wait) }, { retryAfter: wait });
  return true;
}

export function readFieldsAlone(
  query: URLSearchParams,
  names: Pick<ListNames, 'fields'>,
): { readonly fields: readonly string[] | undefined } | { readonly refusal: string } {
  const unknown = refuseNames(query, ['fields']);
  if (unknown !== undefined) return { refusal: unknown };
  const fields = readFields(query, names);
  return typeof fields === 'string' ? { refusal: fields } : { fields };
}

/** Answers 200 with validators, or 304 (RFC 9110 §13.1.2). A list has no Last-Modified, since it also shrinks. */
export function sendFound({ request, response, parts }: Call, body: string, lastModified?: EpochMs): void {
  const validators = { etag: tagOf(body), lastModified: lastModified ?? parts.now() };
  const dated = lastModified === undefined ? { ETag: validators.etag } : validatorHeaders(validators);
  const headers = { ...dated, 'Cache-Control': CACHE_CONTROL };
  if (judge(request.headers, true, validators) === 'not-modified') response.writeHead(304, headers).end();
  else sendText(response, 200, body, headers);
}
