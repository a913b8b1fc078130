// Responses to faults: 502, 503, 504 and 500 with the members that the specification requires.
import { type EpochMs, retryLater } from '../../policy/contract.ts';
import type { Fault } from '../directive.ts';
import { type ErrorDescription, proxyStatus, refuse, unavailable } from './error-body.ts';

/** Retry-After in seconds while an issuer's keys are missing. The gateway retries to fetch them every second. */
const KEYS_RETRY_SECONDS = 5;

export function describeFault(fault: Fault, requestId: string, wallClock: EpochMs): ErrorDescription {
  switch (fault.code) {
    case 'upstream_refused':
      return badGateway(fault, 'could not be reached', 'connection_refused');
    case 'upstream_dns':
      return badGateway(fault, 'could not be reached', 'dns_error');
    case 'upstream_reset':
      return badGateway(fault, 'closed the connection before it answered', 'connection_terminated');
    case 'upstream_invalid':
      return badGateway(fault, 'returned an invalid response', 'http_protocol_error');
    case 'upstream_tls':
      return badGateway(fault, 'could not be reached over a trusted connection', 'tls_certificate_error');
    case 'upstream_loop':
      return badGateway(fault, 'leads back to this gateway', 'proxy_loop_detected');
    case 'upstream_busy':
      return unavailableUpstream(
        fault,
        'has reached its request limit',
        'connection_limit_reached',
        wallClock,
      );
    case 'upstream_connect_timeout':
      return timedOut(fault, 'connection_timeout');
    case 'upstream_headers_timeout':
      return timedOut(fault, 'connection_read_timeout');
    case 'upstream_idle_timeout':
    case 'upstream_total_timeout':
      return timedOut(fault, 'http_response_timeout');
    case 'upstream_unavailable':
      return unavailableUpstream(fault, 'is out of service right now', 'destination_unavailable', wallClock);
    case 'identity_unavailable':
      return unavailable(
        'Credentials cannot be verified right now.',
        retryLater(fault.code, KEYS_RETRY_SECONDS, wallClock),
      );
    case 'internal':
      return refuse(500, 'An unexpected error occurred.', { requestId }, {}, 'proxy_internal_error');
    default:
      return fault.code satisfies never;
  }
}

function badGateway(fault: Fault, what: string, error: string): ErrorDescription {
  const service = fault.service ?? 'upstream';
  const headers = { 'proxy-status': proxyStatus(fault.proxyError ?? error, service) };
  return refuse(502, `The ${service} service ${what}.`, { service }, headers);
}

/** The request was not sent upstream. */
function unavailableUpstream(
  fault: Fault,
  what: string,
  error: string,
  wallClock: EpochMs,
): ErrorDescription {
  const service = fault.service ?? 'upstream';
  const seconds = fault.retryAfterSeconds ?? 1;
  const answer = unavailable(`The ${service} service ${what}.`, retryLater(fault.code, seconds, wallClock));
  return { ...answer, headers: { ...answer.headers, 'proxy-status': proxyStatus(error, service) } };
}

function timedOut(fault: Fault, error: string): ErrorDescription {
  const service = fault.service ?? 'upstream';
  const timeout = `${(fault.timeoutMs ?? 0) / 1000}s`;
  const headers = { 'proxy-status': proxyStatus(error, service) };
  return refuse(504, `The ${service} service did not answer in time.`, { timeout }, headers);
}
