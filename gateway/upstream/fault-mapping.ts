// What a failed call means to the client: a stable fault code, never the cause's text (FWD-18).
import { Fault, type FaultCode, type ForwardOrder } from '../exchange/directive.ts';

const BY_CODE: Readonly<Record<string, FaultCode>> = {
  ECONNREFUSED: 'upstream_refused',
  EHOSTUNREACH: 'upstream_refused',
  ENETUNREACH: 'upstream_refused',
  EADDRNOTAVAIL: 'upstream_refused',
  ENOTFOUND: 'upstream_dns',
  EAI_AGAIN: 'upstream_dns',
  EAI_FAIL: 'upstream_dns',
  ECONNRESET: 'upstream_reset',
  EPIPE: 'upstream_reset',
  UND_ERR_SOCKET: 'upstream_reset',
  UND_ERR_CLOSED: 'upstream_reset',
  UND_ERR_DESTROYED: 'upstream_reset',
  // What undici says of an HTTP/2 stream or connection that the upstream has ended: RST_STREAM, GOAWAY.
  UND_ERR_INFO: 'upstream_reset',
  UND_ERR_ABORTED: 'upstream_reset',
  ERR_HTTP2_STREAM_ERROR: 'upstream_reset',
  ERR_HTTP2_STREAM_CANCEL: 'upstream_reset',
  ERR_HTTP2_SESSION_ERROR: 'upstream_reset',
  ERR_HTTP2_GOAWAY_SESSION: 'upstream_reset',
  // The same while a body is sent on it.
  ERR_STREAM_PREMATURE_CLOSE: 'upstream_reset',
  ERR_HTTP2_ERROR: 'upstream_invalid',
  ETIMEDOUT: 'upstream_connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'upstream_connect_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'upstream_headers_timeout',
  UND_ERR_BODY_TIMEOUT: 'upstream_idle_timeout',
  UND_ERR_HEADERS_OVERFLOW: 'upstream_invalid',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'upstream_invalid',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'upstream_invalid',
  // A head with characters that Node does not write to a client.
  ERR_INVALID_CHAR: 'upstream_invalid',
  EPROTO: 'upstream_tls',
  // undici's parser asserts what an upstream can break, by a 101 without an upgrade for one (FWD-13).
  ERR_ASSERTION: 'upstream_invalid',
};

const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_PURPOSE|INVALID_CA)/;

/** Wraps a transport error of the call described by `order`; a Fault passes through. */
export function toFault(cause: unknown, order: ForwardOrder): Fault {
  if (cause instanceof Fault) return cause;
  const code = faultCode(cause);
  const service = order.upstream.name;
  const timeoutMs = timeoutOf(code, order);
  const proxyError = proxyErrorOf(errorCode(cause) ?? '');
  return new Fault(code, { service, cause, proxyError, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** PXS-1: what a client may know beyond the code; undefined where the code says all. */
function proxyErrorOf(cause: string): string | undefined {
  if (cause === 'UND_ERR_HEADERS_OVERFLOW' || cause === 'HPE_HEADER_OVERFLOW')
    return 'http_response_header_section_size';
  // OpenSSL's own errors are of the protocol; what is wrong with a certificate has codes of Node's.
  if (cause === 'EPROTO' || cause.startsWith('ERR_SSL_'))
    return cause.includes('ALERT') ? 'tls_alert_received' : 'tls_protocol_error';
  return undefined;
}

function faultCode(cause: unknown): FaultCode {
  // undici's parser errors have a code only for some of their causes.
  if (cause instanceof Error && cause.name === 'HTTPParserError') return 'upstream_invalid';
  const code = errorCode(cause);
  if (code === undefined) return 'internal';
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  // Node's own parser, which reads the answers to WebSocket handshakes.
  if (code.startsWith('HPE_')) return 'upstream_invalid';
  return TLS.test(code) ? 'upstream_tls' : 'internal';
}

/** The `code` of an error, or of the first error inside an aggregate of connection attempts. */
export function errorCode(cause: unknown): string | undefined {
  if (cause instanceof AggregateError && !('code' in cause && typeof cause.code === 'string')) {
    return errorCode(cause.errors[0]);
  }
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return undefined;
}

function timeoutOf(code: FaultCode, order: ForwardOrder): number | undefined {
  const { timeouts } = order.upstream;
  if (code === 'upstream_connect_timeout') return timeouts.connect;
  if (code === 'upstream_headers_timeout') return timeouts.headers;
  if (code === 'upstream_idle_timeout') return timeouts.idle;
  if (code === 'upstream_total_timeout') return timeouts.total;
  return undefined;
}
