// Writes JSON answers, error bodies and validators. The last thing that happens to a request in a sample service.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reason phrases of RFC 9110; Node's own table still has the older name of 413. */
const PHRASES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  500: 'Internal Server Error',
} as const;

export type FieldLines = Readonly<Record<string, string | readonly string[]>>;

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  lines: FieldLines = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  for (const [name, line] of Object.entries(lines)) response.setHeader(name, line);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.writeHead(status).end(body);
}

/** The specification's error body (ERR-1); `more` holds the members a status asks for, as `requestId` on 500. */
export function sendError(
  response: ServerResponse,
  status: keyof typeof PHRASES,
  message: string,
  lines: FieldLines = {},
  more: Readonly<Record<string, unknown>> = {},
): void {
  sendJson(response, status, { error: PHRASES[status], message, ...more }, lines);
}

/** 200 with a strong ETag over the bytes, or 304 without a body when `If-None-Match` names it (RFC 9110 §13.1.2). */
export function sendRepresentation(
  request: IncomingMessage,
  response: ServerResponse,
  value: unknown,
  cacheControl: string,
): void {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
  const etag = `"${digest}"`;
  const lines = { ETag: etag, 'Cache-Control': cacheControl };
  if (namesTag(request.headers['if-none-match'], etag)) {
    response.writeHead(304, lines).end();
    return;
  }
  sendJson(response, 200, value, lines);
}

// Our own tags hold no comma, so splitting the list cannot cut a tag that could match.
function namesTag(list: string | undefined, etag: string): boolean {
  if (list === undefined) return false;
  if (list.trim() === '*') return true;
  return list.split(',').some((member) => member.trim().replace(/^W\//, '') === etag);
}
