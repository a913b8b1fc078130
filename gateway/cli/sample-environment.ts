// What the sample services of the demo must know of one another, where the operator has not said it himself.
// Added by demo.ts to the environment that its children get.
import { join } from 'node:path';
import type { Environment } from '../plan/read/interpolate.ts';

/**
 * Events go to the webhooks service, and its deliveries may go to the sample receiver: the one host on this machine that it
 * calls, by the certificate that the receiver made. A port 0 is known to nobody before it is bound: these are not connected.
 */
export function connectSamples(environment: Environment): Environment {
  const webhooks = portOf(environment.SUNDIAL_WEBHOOKS_PORT, '4006');
  const receiver = portOf(environment.SUNDIAL_RECEIVER_PORT, '4007');
  return {
    ...(webhooks !== undefined && { SUNDIAL_INTAKE: `http://127.0.0.1:${webhooks}/events` }),
    ...(receiver !== undefined && {
      SUNDIAL_WEBHOOKS_ALLOW: `localhost:${receiver}`,
      SUNDIAL_WEBHOOKS_CA: join(environment.SUNDIAL_DATA || './data', 'receiver.crt'),
    }),
    ...environment,
  };
}

function portOf(written: string | undefined, fallback: string): string | undefined {
  const port = written || fallback;
  return port === '0' ? undefined : port;
}
