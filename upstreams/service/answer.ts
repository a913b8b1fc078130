// Writes JSON responses, and error bodies with the members `error` and `message`.
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

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: ResponseHeaders = {},
): void {
  sendText(response, status, JSON.stringify(value), headers);
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: ResponseHeaders,
): void {
  const body = Buffer.from(text);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', body.length);
  response.writeHead(status).end(body);
}

/** ERR-1: `error` is the reason phrase of `status`. `more`: further members, such as `requestId` on 500. */
export function sendError(
  response: ServerResponse,
  status: ErrorStatus,
  message: string,
  headers: ResponseHeaders = {},
  more: Readonly<Record<string, unknown>> = {},
): void {
  sendJson(response, status, { error: PHRASES[status], message, ...more }, headers);
}
