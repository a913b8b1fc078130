// What the admin listener answers with, before it meets a framework or a raw socket.
// Errors have the shape of the public face: error, message and, for a 500, the request id.
import { reasonPhrase } from '../exchange/error-body.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): AdminAnswer {
  return {
    status,
    contentType: 'application/json; charset=utf-8',
    headers: {},
    body: `${JSON.stringify(body)}\n`,
  };
}

/** ERR-1. `message` is for people and holds nothing of a cause. */
export function errorAnswer(
  status: number,
  message: string,
  members: Readonly<Record<string, unknown>> = {},
): AdminAnswer {
  return jsonAnswer(status, { error: reasonPhrase(status), message, ...members });
}

/** The answer to bytes that Node's parser refused, by its error code; 501 for a method it does not know (ERR-4). */
export function malformedAnswer(code: string | undefined): AdminAnswer {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return errorAnswer(501, 'The method is not known.');
    case 'HPE_INVALID_VERSION':
      return errorAnswer(505, 'The protocol version is not supported.');
    case 'HPE_HEADER_OVERFLOW':
      return errorAnswer(431, 'The request header fields are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errorAnswer(408, 'The request took too long to arrive.');
    default:
      return errorAnswer(400, 'The request cannot be read.');
  }
}

/** As bytes for a connection that is given up with this answer. */
export function rawAnswer({ status, contentType, body }: AdminAnswer): string {
  return [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    `content-type: ${contentType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
