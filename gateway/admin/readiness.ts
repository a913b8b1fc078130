// Admin endpoints for metrics, liveness and readiness. The gateway is ready from the end of its start until the drain.
import type { Metrics } from '../telemetry/telemetry.ts';
import { type AdminAnswer, jsonAnswer } from './answers.ts';
import type { AdminPage } from './route.ts';

export interface PolicyReadiness {
  /** Some or all of the current files are not in force. */
  readonly reloadRefused: boolean;
  readonly restartNeeded: boolean;
  /** APIs served in their last accepted form. */
  readonly quarantined: readonly string[];
  /** APIs not served, because their files are refused. */
  readonly leftOut: readonly string[];
}

export interface Readiness {
  readonly state: 'starting' | 'ready' | 'draining';
  /** The kind of store, never its address. */
  readonly store: { readonly kind: 'embedded' | 'redis'; readonly state: 'up' | 'down' };
  /** Revision of the current plan. Undefined before the first plan. */
  readonly revision: string | undefined;
  readonly policies: PolicyReadiness;
}

function readinessAnswer({ state, store, revision, policies }: Readiness): AdminAnswer {
  const body = {
    status: state,
    store: { kind: store.kind, state: store.state },
    plan: revision ?? null,
    ...detailOf(policies),
  };
  return jsonAnswer(state === 'ready' ? 200 : 503, body);
}

function detailOf(policies: PolicyReadiness) {
  const { reloadRefused, restartNeeded, quarantined, leftOut } = policies;
  const details = [
    ...(reloadRefused ? ['last reload refused'] : []),
    ...(restartNeeded ? ['restart needed'] : []),
    ...refusedApis(policies),
  ];
  return {
    ...(details.length > 0 && { detail: details.join(', ') }),
    ...(quarantined.length > 0 && { quarantined }),
    ...(leftOut.length > 0 && { leftOut }),
  };
}

export function refusedApis({
  quarantined,
  leftOut,
}: Pick<PolicyReadiness, 'quarantined' | 'leftOut'>): readonly string[] {
  return [
    ...(quarantined.length > 0 ? [`last accepted form served: ${quarantined.join(', ')}`] : []),
    ...(leftOut.length > 0 ? [`left out: ${leftOut.join(', ')}`] : []),
  ];
}

export interface ReadinessPorts {
  readonly metrics: Pick<Metrics, 'render'>;
  readonly readiness: () => Readiness;
}

export function healthRoutes({ metrics, readiness }: ReadinessPorts): readonly AdminPage[] {
  const page = { method: 'GET', open: true } as const;
  // Liveness checks no dependency: a restart does not repair an unavailable store or issuer.
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
