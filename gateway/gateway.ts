// The composition root: the only file that knows every part. It assembles a gateway from its documents and closes it.
import { openAdmin } from './admin/open-admin.ts';
import { type Readiness, refusedApis } from './admin/readiness.ts';
import { openRetirementGuard } from './admin/retirement-guard.ts';
import type { Gateway, GatewayOptions, Started } from './gateway-contract.ts';
import { openNotices } from './open-notices.ts';
import { openPolicies } from './open-policies.ts';
import { hasPlan, hasSettings, type LoadedSettings, loadAll } from './plan/load.ts';
import { emptyPlan } from './plan/reload/first-plan.ts';
import type { Settings } from './plan/settings.ts';
import type { Override } from './policy/lifecycle/override.ts';
import { oldestKept } from './policy/usage/window.ts';
import { openPrimary, type Primary, workersOf } from './primary.ts';
import { socketsFor } from './server/inherited-sockets.ts';
import { listenFailure } from './server/listen-failure.ts';
import { openCertificates } from './server/public-certificates.ts';
import { createService, type Service } from './service.ts';
import { DataFolderError, hasDatabase } from './stores/embedded/data-folder.ts';
import { openStores } from './stores/open-stores.ts';
import { stopWatching } from './telemetry/ledger/sweep.ts';
import { createCertificateReport } from './telemetry/reports/certificate-report.ts';
import { createDependencyReport } from './telemetry/reports/dependency-report.ts';
import { createGuardReport } from './telemetry/reports/retirement-gauge.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { loadSpans } from './telemetry/traces/spans.ts';

/**
 * Opens documents, store, certificates and listeners in this order, so that no listener opens before an error is found.
 * Problems in the documents are a result. Any other failure is thrown after all resources are released.
 */
export async function startGateway(options: GatewayOptions): Promise<Started> {
  const now = options.lifecycleClock?.now() ?? Date.now();
  const loaded = await loadAll({ ...options, now, today: Date.now() });
  if (!hasSettings(loaded) || (!hasPlan(loaded) && !mayServeSome(loaded.settings)))
    return { kind: 'rejected', problems: loaded.problems };

  const closing = new AsyncDisposableStack();
  try {
    const started = await assemble(options, loaded, closing);
    if (started.kind === 'rejected') await closing.disposeAsync();
    return started;
  } catch (error) {
    await closing.disposeAsync();
    // Without the store there is no accepted form to use, so the errors of the files are the problem to fix.
    if (error instanceof DataFolderError && !hasPlan(loaded))
      return { kind: 'rejected', problems: loaded.problems };
    throw listenFailure(error, loaded.settings.listeners);
  }
}

/** Whether some APIs may start although files have errors. A new store has no accepted form, so none is created. */
function mayServeSome({ start, store }: Settings): boolean {
  if (start !== 'accepted') return start === 'partial';
  return store.kind === 'redis' || hasDatabase(store.folder);
}

async function assemble(
  options: GatewayOptions,
  loaded: LoadedSettings,
  closing: AsyncDisposableStack,
): Promise<Started> {
  const { settings } = loaded;
  const wallClock = Date.now;
  const now = options.lifecycleClock?.now ?? wallClock;
  const monotonic = () => performance.now();
  let plan = emptyPlan(settings);
  let state: Readiness['state'] = 'starting';
  let storeUp = false;
  let overrides: () => readonly Override[] = () => [];
  const workers = workersOf(settings);
  // Undefined if this process serves the requests itself.
  let primary: Primary | undefined;

  const telemetry = createTelemetry({
    plan: () => plan,
    now,
    overrides: () => overrides(),
    wallClock,
    monotonic,
    log: options.log,
    version: options.version,
    settings,
    spans: await loadSpans(settings.tracing, (failure) => dependencies.onSpans(failure)),
    recordsUsage: settings.ledger !== undefined,
    workers: workers === 1 ? undefined : async () => (await primary?.snapshots()) ?? [],
  });
  closing.defer(telemetry.close);
  const { logger } = telemetry;
  const dependencies = createDependencyReport(telemetry);

  const stores = await openStores({
    ...settings,
    monotonic,
    onState: (up) => {
      storeUp = up;
      dependencies.onStore(settings.store.kind, up);
    },
    onFault: (error) => logger.error('the store failed', { error }),
    notifyWorkers: async (news) => primary?.notify(news),
  });
  closing.defer(stores.close);
  overrides = stores.overrides.current;
  // With a moved clock nothing is deleted: the ledger may be that of a real gateway.
  const forgets = options.lifecycleClock === undefined ? settings.ledger : undefined;
  const lifecyclePorts = {
    ...{ plan: () => plan, now, monotonic, overrides: stores.overrides, ledger: stores.ledger },
    keptFrom: () => forgets && oldestKept(wallClock(), forgets.keepDays),
  };
  if (telemetry.ledger === undefined) closing.defer(stopWatching(stores.ledger, logger));
  else {
    closing.defer(telemetry.ledger.keepIn(stores.ledger));
    if (forgets !== undefined)
      closing.defer(telemetry.ledger.forgetIn(stores.ledger, { ...forgets, wallClock }));
  }

  const policies = await openPolicies(options, loaded, { stores, telemetry, now, wallClock });
  if (policies.kind === 'rejected') return policies;
  const { pieces, problems } = policies;
  ({ plan } = policies);

  const certificates = await openCertificates(settings, plan, {
    now: wallClock,
    report: createCertificateReport(telemetry),
  });
  if (certificates !== undefined) closing.defer(certificates.close);
  const sockets = socketsFor(options.sockets, settings.listeners);
  const shared = { settings, certificates, telemetry, monotonic, sockets };
  if (workers > 1) {
    const clockOffset = () => options.lifecycleClock && now() - wallClock();
    const { revision } = plan;
    primary = await openPrimary({ ...shared, stores, workers, revision, pieces, clockOffset });
  }
  const service: Service =
    primary ?? createService({ ...stores, ...shared, plan: () => plan, now, wallClock, overrides });
  closing.defer(service.close);

  const watch = policies.watch(async (next, accepted) => {
    // Workers first, so that what this process shows is in force everywhere.
    if (primary !== undefined) await primary.distribute(next, accepted);
    plan = next;
    await service.use(next);
    void certificates?.follow(next);
  });
  closing.defer(watch.close);
  const reload: Gateway['reload'] = async () => {
    await certificates?.reload();
    return watch.reload();
  };

  const isRehearsal = options.lifecycleClock?.isObeyed === false;
  const notices = closing.use(
    await openNotices(settings, telemetry, { ...stores, ...lifecyclePorts }, { isRehearsal }),
  );
  // Before the public listeners, because readiness is read while they drain.
  const operators = await openAdmin(settings, telemetry, {
    ...lifecyclePorts,
    wallClock,
    pins: stores.pins,
    keys: stores.keys,
    backup: stores.backup,
    recordsUsage: settings.ledger !== undefined,
    notices: notices.onRequest,
    noticeDays: settings.notify?.daysBefore[0],
    ...watch,
    reload,
    config: () => watch.config(plan.revision),
    logLevel: {
      configured: settings.logLevel,
      current: logger.level,
      set: async (level) => {
        logger.setLevel(level);
        await primary?.setLogLevel(level);
      },
    },
    readiness: () => ({
      state: state === 'ready' && service.serving() === 0 ? 'starting' : state,
      store: { kind: settings.store.kind, state: storeUp ? 'up' : 'down' },
      revision: plan.revision,
      policies: watch.standing(),
    }),
  });
  closing.defer(operators.close);

  const { https, http } = await service.listen();
  closing.defer(async () => {
    state = 'draining';
    await service.drain();
  });

  if (settings.ledger !== undefined)
    closing.defer(openRetirementGuard({ ...lifecyclePorts, report: createGuardReport(telemetry) }).close);

  notices.begin();
  state = 'ready';
  logger.info('started', { revision: plan.revision, store: settings.store.kind });
  await policies.record();

  const gateway: Gateway = {
    facts: {
      listeners: { https, http, ...operators.addresses },
      store: settings.store,
      refused: refusedApis(watch.standing()),
      workers,
      fingerprint: certificates?.current().fingerprint,
      lifecycleClock: options.lifecycleClock?.description,
    },
    logger,
    reload,
    drainMs: settings.drain.waitMs + settings.drain.timeoutMs,
    close: () => closing.disposeAsync(),
  };
  return { kind: 'running', gateway, problems };
}
