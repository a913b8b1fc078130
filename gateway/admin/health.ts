// The pages that machines read: metrics, liveness, readiness, with the aliases that orchestrators expect.
// Open to whoever reaches the listener; they hold no secret and change nothing.
import type { Metrics } from '../telemetry/telemetry.ts';
import { jsonAnswer } from './answers.ts';
import { type Readiness, readinessAnswer } from './readiness.ts';
import type { Page } from './route.ts';

export interface HealthPorts {
  readonly metrics: Pick<Metrics, 'render'>;
  readonly readiness: () => Readiness;
}

export function healthRoutes({ metrics, readiness }: HealthPorts): readonly Page[] {
  const page = { method: 'GET', open: true } as const;
  // Liveness asks nothing of anyone: a lost store or issuer is no reason to restart the process.
  const healthy = () => jsonAnswer(200, { status: 'healthy' });
  const ready = () => readinessAnswer(readiness());
  return [
    {
      ...page,
      path: '/metrics',
      show: async ({ accept }) => ({ status: 200, headers: {}, ...(await metrics.render(accept)) }),
    },
    { ...page, path: '/-/healthy', show: healthy },
    { ...page, path: '/healthz', alias: true, show: healthy },
    { ...page, path: '/-/ready', show: ready },
    { ...page, path: '/readyz', alias: true, show: ready },
  ];
}
