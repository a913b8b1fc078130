// Assembles the policies: published history, first plan and file watcher.
import type { AcceptPorts } from './admin/accepted.ts';
import type { ConfigPorts } from './admin/config.ts';
import type { PolicyReadiness } from './admin/readiness.ts';
import type { GatewayOptions } from './gateway-contract.ts';
import { effectiveInForce } from './plan/effective/effective.ts';
import type { LoadedSettings } from './plan/load.ts';
import type { GatewayPlan } from './plan/plan.ts';
import type { Problem } from './plan/problems.ts';
import { createPublishedHistory } from './plan/published/history.ts';
import { firstPlan } from './plan/reload/first-plan.ts';
import type { PlanPiece } from './plan/reload/pieces.ts';
import { watchPolicies } from './plan/reload/reload.ts';
import type { EpochMs } from './policy/contract.ts';
import type { Stores } from './stores/stores.ts';
import { createDependencyReport } from './telemetry/reports/dependency-report.ts';
import { createReloadReport } from './telemetry/reports/reload-report.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

interface PolicyPorts {
  readonly stores: Pick<Stores, 'published'>;
  readonly telemetry: Telemetry;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  readonly wallClock: () => EpochMs;
}

export interface WatchedPolicies
  extends Omit<ConfigPorts, 'config' | 'backup' | 'wallClock' | 'logLevel'>,
    Pick<AcceptPorts, 'history'> {
  readonly config: (revision: string) => ReturnType<ConfigPorts['config']>;
  /** The policies' part of readiness. */
  readonly standing: () => PolicyReadiness;
  readonly close: () => Promise<void>;
}

export type OpenPolicies =
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'opened';
      readonly plan: GatewayPlan;
      readonly pieces: readonly PlanPiece[];
      readonly problems: readonly Problem[];
      /** Follows the files from now on. `use` puts a plan in force. */
      readonly watch: (
        use: (plan: GatewayPlan, pieces: readonly PlanPiece[]) => Promise<void>,
      ) => WatchedPolicies;
      /** Call it once the first plan is in force. */
      readonly record: () => Promise<void>;
    };

export async function openPolicies(
  options: GatewayOptions,
  loaded: LoadedSettings,
  { stores, telemetry, now, wallClock }: PolicyPorts,
): Promise<OpenPolicies> {
  const { settings } = loaded;
  // The other documents are released once they are compared with the published history.
  const gatewayDocument = loaded.gateway.document;
  const dependencies = createDependencyReport(telemetry);
  const history = createPublishedHistory({
    published: stores.published,
    records: options.lifecycleClock === undefined,
    isShared: settings.store.kind === 'redis',
    onSkipped: dependencies.onHistorySkipped,
    onSuperseded: dependencies.onHistorySuperseded,
  });
  const report = createReloadReport(telemetry, options.onReload);
  const started = await firstPlan(loaded, history, { ...options, now: now() });
  if (started.kind === 'rejected') return started;
  const { plan, first, problems, record } = started;
  report.onQuarantined(first.quarantined);
  const watch: Extract<OpenPolicies, { kind: 'opened' }>['watch'] = (use) => {
    const watching = watchPolicies(
      {
        ...options,
        ...report,
        settings,
        now,
        wallClock,
        history,
        onPlan: async (next, found, pieces, apart) => {
          await use(next, pieces);
          report.onAccepted(next.revision, found, apart);
        },
      },
      first,
    );
    const needsRestart = (): boolean => watching.last()?.outcome.restartNeeded ?? false;
    telemetry.metrics.watchRestart(needsRestart);
    return {
      reload: watching.reload,
      preview: watching.preview,
      lastReload: watching.last,
      history,
      config: (revision) =>
        effectiveInForce(
          { revision, gateway: gatewayDocument, files: history.inForce() },
          { ...options, now: now() },
        ),
      standing: () => {
        const last = watching.last()?.outcome;
        const refused = watching.quarantined();
        return {
          reloadRefused: last?.kind === 'rejected' || last?.kind === 'failed' || refused.length > 0,
          restartNeeded: needsRestart(),
          quarantined: refused.flatMap(({ api, isServed }) => (isServed ? api : [])),
          leftOut: refused.flatMap(({ api, isServed }) => (isServed ? [] : api)),
        };
      },
      close: watching.close,
    };
  };
  return { kind: 'opened', plan, pieces: first.pieces, problems, watch, record };
}
