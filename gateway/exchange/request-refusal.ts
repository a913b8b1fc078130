// What a client is told whose request was refused for itself, whichever API it was meant for.
// A part of refusal-answer.ts: the refusals of the listener and of the first steps of the pipeline.
import type { AnswerHeaders } from './answer-headers.ts';
import type { RequestRefusal } from './directive.ts';
import { type ErrorDescription, refuse, unavailable } from './error-body.ts';
import { REDUCED_CAPACITY } from './limit-answer.ts';
import type { RequestGlimpse } from './request-view.ts';

/** RFC 6455 §4.2.2, RFC 9110 §15.5.22: which protocol, and which version of it. */
const WEBSOCKET_13: AnswerHeaders = { upgrade: 'websocket', 'sec-websocket-version': '13' };

/** Status, message, members and own header lines (SMG, HTTP2, ERR, TLS). */
export function describeRequestRefusal(
  refusal: RequestRefusal,
  { scheme }: RequestGlimpse,
): ErrorDescription {
  switch (refusal.reason) {
    case 'request_malformed':
      return refuse(refusal.status, refusal.message);
    case 'plain_http':
      return refuse(400, 'This address speaks HTTPS only. Send the request to the https URL.');
    case 'plain_http_moved':
      return refuse(
        refusal.status,
        'This address speaks HTTPS only. The resource is at the https URL.',
        {},
        { location: refusal.location },
      );
    case 'method_unknown':
      return refuse(501, 'This request method is not supported.');
    case 'transfer_coding_unknown':
      return refuse(501, 'The only transfer coding supported is chunked.');
    case 'protocol_version_unsupported':
      return refuse(505, 'Use HTTP/1.1 or HTTP/2.');
    case 'websocket_version_unsupported':
      return refuse(426, 'The only WebSocket version supported is 13.', {}, WEBSOCKET_13);
    case 'host_unknown':
      // TLS-4: where no certificate speaks for a host there is no connection to be misdirected on.
      return refuse(
        scheme === 'http' ? 404 : 421,
        'This gateway does not answer for the host of this request.',
      );
    case 'misdirected':
      return refuse(421, 'This connection is for another host. Open one for the host of this request.');
    case 'route_unknown':
      return refuse(404, 'No API is published at this path.');
    case 'method_not_allowed':
      return refuse(405, 'This resource can only be read.', {}, { allow: refusal.allowed });
    case 'credentials_in_url':
      return refuse(
        400,
        `Credentials do not belong in a URL: send ${refusal.parameter} in the Authorization header.`,
      );
    case 'method_overridden':
      return refuse(
        400,
        `The ${refusal.field} header differs from the method of the request, ${refusal.method}. Send the intended method itself.`,
      );
    case 'body_too_large':
      return refuse(413, `The body is larger than the ${refusal.most} bytes this resource takes.`);
    case 'overloaded':
      return {
        ...unavailable('The gateway has more requests than it can answer right now.', refusal),
        problem: REDUCED_CAPACITY,
      };
    case 'usage_unavailable':
      return unavailable('Your usage cannot be looked up right now.', refusal);
    case 'api_left_out':
      return unavailable('The policy of this API is not in force right now.', refusal);
    case 'websockets_exhausted':
      return refuse(429, 'This client has as many WebSockets open as it may. Close one first.');
    case 'origin_not_allowed':
      return refuse(403, 'Pages of this origin may not open a WebSocket here.');
    default:
      return refusal satisfies never;
  }
}
