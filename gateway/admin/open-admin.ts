// Opens the admin listener and the metrics listener that the gateway file configures.
import { randomBytes } from 'node:crypto';
import type { Settings } from '../plan/settings.ts';
import { isLoopback } from '../policy/notation.ts';
import { createAuditTrail } from '../telemetry/logs/logger.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type AcceptPorts, acceptRoutes } from './accepted.ts';
import { type AdminListener, createAdminListener, isExposed } from './admin-listener.ts';
import { type ConfigPorts, configRoutes } from './config.ts';
import { readDashboard } from './dashboard/assets.ts';
import { sessionRoutes } from './dashboard/session-routes.ts';
import { createSessions } from './dashboard/sessions.ts';
import { type StateRoutePorts, stateRoutes } from './dashboard/state-routes.ts';
import { type KeyPorts, keyRoutes } from './keys.ts';
import { type NoticePorts, noticeRoutes } from './notices.ts';
import { type PausePorts, pauseRoutes } from './pauses.ts';
import { type PinPorts, pinRoutes } from './pins.ts';
import { healthRoutes, type ReadinessPorts } from './readiness.ts';
import { createTokenCheck, openAdminToken } from './token.ts';
import { type UsagePorts, usageRoutes } from './usage.ts';
import { createWebhookService } from './webhooks/service.ts';
import { webhookRoutes } from './webhooks/webhooks.ts';

export type AdminPorts = Pick<ReadinessPorts, 'readiness'> &
  PausePorts &
  PinPorts &
  KeyPorts &
  ConfigPorts &
  AcceptPorts &
  NoticePorts &
  UsagePorts &
  Omit<StateRoutePorts, 'metrics'>;

type OperatorSettings = Pick<Settings, 'listeners' | 'dataFolder' | 'webhookDeliveries'>;
type Addressed = Pick<AdminListener, 'address'>;

export interface OperatorListeners {
  /** Undefined for a listener that the settings do not have. */
  readonly addresses: { readonly admin: Addressed | undefined; readonly metrics: Addressed | undefined };
  readonly close: () => Promise<void>;
}

/** @throws the system error if an address cannot be bound; Error if the token file cannot be read or created */
export async function openAdmin(
  settings: OperatorSettings,
  telemetry: Pick<Telemetry, 'metrics' | 'logger'>,
  ports: AdminPorts,
): Promise<OperatorListeners> {
  await using opening = new AsyncDisposableStack();
  const admin = await openAdminListener(settings, telemetry, ports);
  if (admin !== undefined) opening.defer(admin.close);
  const metrics = await openMetrics(settings, telemetry, ports.readiness);
  if (metrics !== undefined) opening.defer(metrics.close);
  const open = opening.move();
  const addressed = (listener: AdminListener | undefined) => listener && { address: listener.address };
  return {
    addresses: { admin: addressed(admin), metrics: addressed(metrics) },
    close: () => open.disposeAsync(),
  };
}

async function openAdminListener(
  { listeners: { admin }, dataFolder, webhookDeliveries }: OperatorSettings,
  telemetry: Pick<Telemetry, 'metrics' | 'logger'>,
  ports: AdminPorts,
): Promise<AdminListener | undefined> {
  if (admin === undefined) return undefined;
  const { metrics, logger } = telemetry;
  const health = healthRoutes({ metrics, readiness: ports.readiness });
  const token = await openAdminToken({ configured: admin.token, dataFolder });
  const { monotonic } = ports;
  const dashboard = await readDashboard();
  const sessions = createSessions({ monotonic, random: (bytes) => randomBytes(bytes).toString('base64url') });
  return createAdminListener({
    address: admin.address,
    token,
    hasSession: sessions.has,
    routes: [
      ...health,
      ...configRoutes(ports),
      ...acceptRoutes(ports),
      ...pauseRoutes(ports),
      ...pinRoutes(ports),
      ...keyRoutes(ports),
      ...usageRoutes(ports),
      ...noticeRoutes(ports),
      ...webhookRoutes({
        ...ports,
        service: webhookDeliveries === undefined ? undefined : createWebhookService(webhookDeliveries),
      }),
      ...stateRoutes({ ...ports, metrics }),
      ...sessionRoutes({ sessions, hasToken: createTokenCheck(token), exposed: isExposed(admin.address) }),
      ...dashboard.pages,
    ],
    notFound: dashboard.notFound,
    audit: createAuditTrail(telemetry),
    onError: (error) => logger.error('a request to the admin listener failed', { error }),
  });
}

/**
 * Serves health and metrics alone, so that the admin listener can stay on loopback.
 * @throws the system error if the address cannot be bound
 */
async function openMetrics(
  { listeners: { metrics: settings } }: Pick<Settings, 'listeners'>,
  { metrics, logger }: Pick<Telemetry, 'metrics' | 'logger'>,
  readiness: ReadinessPorts['readiness'],
): Promise<AdminListener | undefined> {
  if (settings === undefined) return undefined;
  const { host } = settings.address;
  return createAdminListener({
    address: settings.address,
    token: undefined,
    // Off loopback any client can read these pages. On loopback the Host check keeps web pages out.
    anyHost: host === undefined || !isLoopback(host),
    routes: healthRoutes({ metrics, readiness }),
    // No route writes.
    audit: () => undefined,
    onError: (error) => logger.error('a request to the metrics listener failed', { error }),
  });
}
