// A worker process: serves requests with the plan that the primary sends, and reads no policy file.
import { makeNextPlan, type NextPlan } from './plan/reload/next-plan.ts';
import { listenFailure } from './server/listen-failure.ts';
import { keepMemoryLow } from './server/memory-settings.ts';
import type { PlanOrder, PrimaryAnswers, WorkerStart } from './server/workers/protocol.ts';
import { sentCertificates } from './server/workers/sent-certificates.ts';
import { type PrimaryLink, runWorker, type Worker } from './server/workers/worker-process.ts';
import { createService } from './service.ts';
import type { StoreAnswers, StoreStart, StoreUpdate } from './stores/workers/store-messages.ts';
import { openWorkerStores } from './stores/workers/worker-stores.ts';
import { createDependencyReport } from './telemetry/reports/dependency-report.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { loadSpans } from './telemetry/traces/spans.ts';

keepMemoryLow();
runWorker(async (start, primary) => {
  const closing = new AsyncDisposableStack();
  try {
    return await open(start, primary, closing);
  } catch (error) {
    await closing.disposeAsync();
    throw listenFailure(error, start.settings.listeners);
  }
});

async function open(
  { settings, order, sockets, pairs, clockOffset = 0, workers, stores: start }: WorkerStart,
  primary: PrimaryLink,
  closing: AsyncDisposableStack,
): Promise<Worker> {
  const wallClock = Date.now;
  const now = () => Date.now() + clockOffset;
  const monotonic = () => performance.now();
  const askPrimary = primary.peer<PrimaryAnswers>();
  const reader = { pieces: (digests: readonly string[]) => askPrimary('pieces', digests) };
  const next = (wanted: PlanOrder, known: NextPlan['pieces']) =>
    makeNextPlan(reader, wanted, known, { settings, keepsFiles: false });
  let { plan, pieces } = await next(order, []);

  const telemetry = createTelemetry({
    plan: () => plan,
    now,
    // Only the primary exports plan gauges.
    overrides: () => [],
    wallClock,
    monotonic,
    log: { take: primary.log },
    settings,
    spans: await loadSpans(settings.tracing, (failure) => dependencies.onSpans(failure)),
    recordsUsage: settings.ledger !== undefined,
  });
  closing.defer(telemetry.close);
  const { logger, metrics } = telemetry;
  const dependencies = createDependencyReport(telemetry);

  const stores = await openWorkerStores({
    ...settings,
    monotonic,
    workers,
    onState: (up) => dependencies.onStore(settings.store.kind, up),
    onFault: (error) => logger.error('the store failed', { error }),
    ask: primary.peer<StoreAnswers>(),
    start: start as StoreStart,
  });
  closing.defer(stores.close);
  if (telemetry.ledger !== undefined) closing.defer(telemetry.ledger.keepIn(stores.ledger));

  const { https } = settings.listeners;
  const certificates = https && pairs && sentCertificates(pairs, https);
  const service = createService({
    ...stores,
    settings,
    sockets,
    certificates,
    telemetry,
    plan: () => plan,
    now,
    wallClock,
    monotonic,
    overrides: stores.overrides.current,
  });
  closing.defer(service.close);
  const bound = await service.listen();
  closing.defer(async () => void (await service.drain()));

  const follow = async (wanted: PlanOrder): Promise<void> => {
    ({ plan, pieces } = await next(wanted, pieces));
    await service.use(plan);
  };
  // One at a time and in order. A failed plan rejects for its caller, and the next one is still tried.
  let following = Promise.resolve();

  return {
    bound,
    use: (wanted) => {
      following = following.catch(() => undefined).then(() => follow(wanted));
      return following;
    },
    setLogLevel: logger.setLevel,
    show: (renewed) => certificates?.take(renewed),
    snapshot: metrics.snapshot,
    hear: (news) => stores.applyUpdate(news as StoreUpdate),
    onUncaught: (error) => logger.fatal('uncaught error in a worker; it drains and ends', { error }),
    close: () => closing.disposeAsync(),
  };
}
