// TLS and socket options for connections to a target. Certificates are always verified.
import type { UpstreamPlan } from '../plan/plan.ts';
import type { TargetPorts } from '../upstream/call.ts';
import { hostNameOf, type NameLookup } from '../upstream/name-lookup.ts';

export interface TargetOptions {
  readonly lookup: NameLookup['lookup'];
  readonly highWaterMark: number;
  readonly minVersion: 'TLSv1.2';
  readonly rejectUnauthorized: true;
  readonly servername: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Less than one read, so that a connection with unread data is not read again. */
const UNREAD_BYTES = 16 * 1_024;

export function targetOptions(
  origin: string,
  { tls }: UpstreamPlan,
  { names, ca }: Pick<TargetPorts, 'names' | 'ca'>,
): TargetOptions {
  const trust = tls?.ca ?? ca;
  return {
    lookup: names.lookup,
    highWaterMark: UNREAD_BYTES,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    // The Host field is not used, because the client chooses it (FWD-19). An IP address is not a server name.
    servername: tls?.name ?? hostNameOf(origin) ?? '',
    ...(trust === undefined ? {} : { ca: trust }),
    ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls?.key === undefined ? {} : { key: tls.key }),
  };
}
