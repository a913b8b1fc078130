// The metrics listener: what probes and scrapers read, and nothing else, so that the admin listener can stay on loopback.
// Called once by gateway.ts; a gateway file without one has none.
import type { Settings } from '../plan/settings.ts';
import { isLoopback } from '../policy/notation.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type AdminListener, createAdminListener } from './admin-listener.ts';
import { type HealthPorts, healthRoutes } from './health.ts';

/**
 * Undefined where the settings have no metrics listener.
 * @throws the system's error when the address cannot be bound
 */
export async function openMetrics(
  { listeners: { metrics: settings } }: Pick<Settings, 'listeners'>,
  { metrics, logger }: Pick<Telemetry, 'metrics' | 'logger'>,
  readiness: HealthPorts['readiness'],
): Promise<AdminListener | undefined> {
  if (settings === undefined) return undefined;
  const { host } = settings.address;
  return createAdminListener({
    address: settings.address,
    token: undefined,
    // Whoever reaches this machine from outside may read the pages anyway; on loopback a web page may not (promise 26).
    anyHost: host === undefined || !isLoopback(host),
    routes: healthRoutes({ metrics, readiness }),
    // No route of it writes.
    audit: () => undefined,
    onError: (error) => logger.error('a page of the metrics listener failed', { error }),
  });
}
