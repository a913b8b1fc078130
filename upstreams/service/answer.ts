// Writes JSON answers and error bodies in the form of the specification.
import type { ServerResponse } from 'node:http';

/** Reason phrases of RFC 9110. Node's table has older names for 413 and 422. */
const PHRASES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

export type ErrorStatus = keyof typeof PHRASES;

export type FieldLines = Readonly<Record<string, string | readonly string[]>>;

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  lines: FieldLines = {},
): void {
  sendText(response, status, JSON.stringify(value), lines);
}

export function sendText(response: ServerResponse, status: number, text: string, lines: FieldLines): void {
  const body = Buffer.from(text);
  for (const [name, line] of Object.entries(lines)) response.setHeader(name, line);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.writeHead(status).end(body);
}

/** The specification's error body (ERR-1). `more`: further members, such as `requestId` on 500. */
export function sendError(
  response: ServerResponse,
  status: ErrorStatus,
  message: string,
  lines: FieldLines = {},
  more: Readonly<Record<string, unknown>> = {},
): void {
  sendJson(response, status, { error: PHRASES[status], message, ...more }, lines);
}
