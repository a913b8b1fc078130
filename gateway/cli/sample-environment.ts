// What the sample services of the demo must know of one another, where the operator has not said it himself.
// Added by demo.ts to the environment that its children get.
import { join } from 'node:path';
import type { Environment } from '../plan/read/interpolate.ts';

/**
 * Events go to the webhooks service, and its deliveries may go to the sample receiver, by the certificate that the receiver
 * made: it and what the operator names are the hosts on this machine that it calls. A port 0 is known to nobody before it is
 * bound: these are not connected.
 */
export function connectSamples(environment: Environment): Environment {
  const webhooks = portOf(environment.SUNDIAL_WEBHOOKS_PORT, '4006');
  const receiver = portOf(environment.SUNDIAL_RECEIVER_PORT, '4007');
  const certificate = join(environment.SUNDIAL_DATA || './data', 'receiver.crt');
  return {
    ...(webhooks !== undefined && { SUNDIAL_INTAKE: `http://127.0.0.1:${webhooks}/events` }),
    ...environment,
    ...(receiver !== undefined && {
      SUNDIAL_WEBHOOKS_ALLOW: listed(`localhost:${receiver}`, environment.SUNDIAL_WEBHOOKS_ALLOW),
      SUNDIAL_WEBHOOKS_CA: listed(certificate, environment.SUNDIAL_WEBHOOKS_CA),
    }),
  };
}

const listed = (...entries: readonly (string | undefined)[]): string => entries.filter(Boolean).join(',');

function portOf(written: string | undefined, fallback: string): string | undefined {
  const port = written || fallback;
  return port === '0' ? undefined : port;
}
