// Maps the error of a failed call to a stable fault code. No text of the error reaches the client (FWD-18).
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
  // undici's codes for an HTTP/2 stream or connection that the upstream closed: RST_STREAM, GOAWAY.
  UND_ERR_INFO: 'upstream_reset',
  UND_ERR_ABORTED: 'upstream_reset',
  ERR_HTTP2_STREAM_ERROR: 'upstream_reset',
  ERR_HTTP2_STREAM_CANCEL: 'upstream_reset',
  ERR_HTTP2_SESSION_ERROR: 'upstream_reset',
  ERR_HTTP2_GOAWAY_SESSION: 'upstream_reset',
  ERR_STREAM_PREMATURE_CLOSE: 'upstream_reset',
  ERR_HTTP2_ERROR: 'upstream_invalid',
  ETIMEDOUT: 'upstream_connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'upstream_connect_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'upstream_headers_timeout',
  UND_ERR_BODY_TIMEOUT: 'upstream_idle_timeout',
  UND_ERR_HEADERS_OVERFLOW: 'upstream_invalid',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'upstream_invalid',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'upstream_invalid',
  // A head with characters that Node cannot write to a client.
  ERR_INVALID_CHAR: 'upstream_invalid',
  EPROTO: 'upstream_tls',
  // undici asserts what an upstream can violate, by a 101 without an upgrade (FWD-13).
  ERR_ASSERTION: 'upstream_invalid',
};

const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_PURPOSE|INVALID_CA)/;

/** Wraps a transport error. A Fault is returned unchanged. */
export function toFault(cause: unknown, order: ForwardOrder): Fault {
  if (cause instanceof Fault) return cause;
  const code = faultCode(cause);
  const service = order.upstream.name;
  const timeoutMs = timeoutOf(code, order);
  const proxyError = proxyErrorOf(errorCode(cause) ?? '');
  return new Fault(code, { service, cause, proxyError, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** PXS-1: the error type that a client may see besides the code. Undefined if the code is enough. */
function proxyErrorOf(cause: string): string | undefined {
  if (cause === 'UND_ERR_HEADERS_OVERFLOW' || cause === 'HPE_HEADER_OVERFLOW')
    return 'http_response_header_section_size';
  // OpenSSL's own errors are protocol errors. Certificate errors have codes of Node.
  if (cause === 'EPROTO' || cause.startsWith('ERR_SSL_'))
    return cause.includes('ALERT') ? 'tls_alert_received' : 'tls_protocol_error';
  return undefined;
}

function faultCode(cause: unknown): FaultCode {
  // undici's parser errors do not always have a code.
  if (cause instanceof Error && cause.name === 'HTTPParserError') return 'upstream_invalid';
  const code = errorCode(cause);
  if (code === undefined) return 'internal';
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  // Node's own parser reads the responses to WebSocket handshakes.
  if (code.startsWith('HPE_')) return 'upstream_invalid';
  return TLS.test(code) ? 'upstream_tls' : 'internal';
}

/** The `code` of an error, or of the first error in an aggregate of connection attempts. */
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
