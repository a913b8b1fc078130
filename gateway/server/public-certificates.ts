// The certificates of the public face for the hosts of the first plan, with their ends told to the metrics.
// Called by gateway.ts once at start: a host that a reload brings in is covered after the next start.
import { X509Certificate } from 'node:crypto';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Settings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Metrics } from '../telemetry/telemetry.ts';
import { type Certificates, loadCertificates } from './certificates.ts';

/** Undefined without an https listener. Rejects when a configured file cannot be read or parsed. */
export async function openCertificates(
  { listeners: { https }, public: origin, dataFolder }: Settings,
  plan: GatewayPlan,
  now: EpochMs,
  metrics: Pick<Metrics, 'certificate'>,
): Promise<Certificates | undefined> {
  if (https === undefined) return undefined;
  const hosts = [new URL(origin).hostname, ...plan.apis.flatMap((api) => api.hosts)];
  const certificates = await loadCertificates(https, { dataFolder, hosts, now });
  for (const { names, cert } of certificates.pairs) {
    const expiry = new X509Certificate(cert).validToDate.getTime();
    for (const name of names) metrics.certificate(name, expiry);
  }
  return certificates;
}
