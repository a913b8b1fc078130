// The admin listener put together: its token, its resources, its audit trail.
// Called once by gateway.ts; a gateway file without an admin listener has none.
import type { Settings } from '../plan/settings.ts';
import { createAuditTrail } from '../telemetry/audit.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type AdminListener, createAdminListener } from './admin-listener.ts';
import { type HealthPorts, healthRoutes } from './health.ts';
import { type PausePorts, pauseRoutes } from './pauses.ts';
import { type PinPorts, pinRoutes } from './pins.ts';
import { openAdminToken } from './token.ts';

export type AdminPorts = Pick<HealthPorts, 'readiness'> & PausePorts & PinPorts;

/**
 * Undefined where the settings have no admin listener.
 * @throws the system's error when the address cannot be bound; Error when the token's file cannot be had
 */
export async function openAdmin(
  { listeners: { admin }, dataFolder }: Pick<Settings, 'listeners' | 'dataFolder'>,
  telemetry: Pick<Telemetry, 'metrics' | 'logger'>,
  ports: AdminPorts,
): Promise<AdminListener | undefined> {
  if (admin === undefined) return undefined;
  const { metrics, logger } = telemetry;
  const { readiness } = ports;
  return createAdminListener({
    address: admin.address,
    token: await openAdminToken({ configured: admin.token, dataFolder }),
    routes: [...healthRoutes({ metrics, readiness }), ...pauseRoutes(ports), ...pinRoutes(ports)],
    audit: createAuditTrail(telemetry),
    onError: (error) => logger.error('an admin page failed', { error }),
  });
}
