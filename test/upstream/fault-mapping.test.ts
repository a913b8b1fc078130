// The fault code, status and RFC 9209 error type of each failed call.
import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { describeFault } from '../../gateway/exchange/answers/fault.ts';
import { Fault } from '../../gateway/exchange/directive.ts';
import { toFault } from '../../gateway/upstream/fault-mapping.ts';
import { upstream } from '../support/exchange-samples.ts';

const order = { upstream, target: '/', label: 'v1', maxBody: 1 } as const;
const coded = (code: string): Error => Object.assign(new Error(`${code} 10.0.0.7:4001`), { code });
const REQUEST_ID = 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001';

function mapped(cause: unknown): string {
  const fault = toFault(cause, order);
  const { status, headers } = describeFault(fault, REQUEST_ID, 0);
  const [, error = 'nothing'] = /; error=([a-z_]+)/.exec(String(headers?.['proxy-status'])) ?? [];
  return `${fault.code} ${status} ${error}`;
}

describe('PXS-1: a call that fails with', () => {
  it.each([
    ['ECONNREFUSED', 'upstream_refused 502 connection_refused'],
    ['EHOSTUNREACH', 'upstream_refused 502 connection_refused'],
    ['ENETUNREACH', 'upstream_refused 502 connection_refused'],
    ['ENOTFOUND', 'upstream_dns 502 dns_error'],
    ['EAI_AGAIN', 'upstream_dns 502 dns_error'],
    ['ECONNRESET', 'upstream_reset 502 connection_terminated'],
    ['EPIPE', 'upstream_reset 502 connection_terminated'],
    ['UND_ERR_SOCKET', 'upstream_reset 502 connection_terminated'],
    ['UND_ERR_INFO', 'upstream_reset 502 connection_terminated'],
    ['ERR_HTTP2_STREAM_CANCEL', 'upstream_reset 502 connection_terminated'],
    ['ERR_HTTP2_GOAWAY_SESSION', 'upstream_reset 502 connection_terminated'],
    // The timeout of the system can expire before that of the gateway.
    ['ETIMEDOUT', 'upstream_connect_timeout 504 connection_timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'upstream_connect_timeout 504 connection_timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'upstream_headers_timeout 504 connection_read_timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'upstream_idle_timeout 504 http_response_timeout'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'upstream_invalid 502 http_protocol_error'],
    ['UND_ERR_HEADERS_OVERFLOW', 'upstream_invalid 502 http_response_header_section_size'],
    ['HPE_HEADER_OVERFLOW', 'upstream_invalid 502 http_response_header_section_size'],
    ['HPE_INVALID_CONSTANT', 'upstream_invalid 502 http_protocol_error'],
    ['ERR_INVALID_CHAR', 'upstream_invalid 502 http_protocol_error'],
    ['ERR_ASSERTION', 'upstream_invalid 502 http_protocol_error'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'upstream_tls 502 tls_certificate_error'],
    ['CERT_HAS_EXPIRED', 'upstream_tls 502 tls_certificate_error'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'upstream_tls 502 tls_certificate_error'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'upstream_tls 502 tls_protocol_error'],
    ['EPROTO', 'upstream_tls 502 tls_protocol_error'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'upstream_tls 502 tls_alert_received'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'upstream_tls 502 tls_alert_received'],
    ['ERR_WHATEVER_NOBODY_KNOWS', 'internal 500 proxy_internal_error'],
  ])('%s is %s', (code, expected) => {
    expect(mapped(coded(code))).toBe(expected);
  });

  it.each<[string, unknown, string]>([
    ['an undici parser error', new errors.HTTPParserError('bad'), 'upstream_invalid 502 http_protocol_error'],
    [
      'several addresses',
      new AggregateError([coded('ECONNREFUSED'), coded('ETIMEDOUT')]),
      'upstream_refused 502 connection_refused',
    ],
    ['no code', new Error('what'), 'internal 500 proxy_internal_error'],
    ['no error at all', 'what', 'internal 500 proxy_internal_error'],
    [
      'a fault',
      new Fault('upstream_loop', { service: 'orders-v1' }),
      'upstream_loop 502 proxy_loop_detected',
    ],
  ])('%s', (_what, cause, expected) => {
    expect(mapped(cause)).toBe(expected);
  });

  it('the response does not contain the cause', () => {
    for (const code of ['ECONNREFUSED', 'UND_ERR_SOCKET', 'EPROTO', 'ERR_WHATEVER_NOBODY_KNOWS']) {
      const text = JSON.stringify(describeFault(toFault(coded(code), order), REQUEST_ID, 0));
      expect(text).not.toContain(code);
      expect(text).not.toContain('10.0.0.7');
    }
  });
});
