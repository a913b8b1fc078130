// The pages that machines read: metrics, liveness, and readiness, which is false until the start is done and from the drain on.
import type { Metrics } from '../telemetry/telemetry.ts';
import { type AdminAnswer, jsonAnswer } from './answers.ts';
import type { AdminPage } from './route.ts';

export interface PolicyReadiness {
  /** The files as they stand are not, or not all, in force. */
  readonly reloadRefused: boolean;
  readonly restartNeeded: boolean;
  /** APIs that are served in their last accepted form. */
  readonly quarantined: readonly string[];
  /** APIs that are not served, since their files are refused. */
  readonly leftOut: readonly string[];
}

export interface Readiness {
  readonly state: 'starting' | 'ready' | 'draining';
  /** The kind of store, never its address. */
  readonly store: { readonly kind: 'embedded' | 'redis'; readonly state: 'up' | 'down' };
  /** Revision of the plan in use; undefined before there is one. */
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

/** One sentence part for quarantined APIs and one for APIs that are left out. */
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
