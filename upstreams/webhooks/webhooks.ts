// Builds the webhooks service from its parts.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { sendError, sendJson } from '../service/answer.ts';
import { createAttempts } from '../service/attempts.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import { answerAdmin, isLocalRequest } from './admin.ts';
import { answerApi, PATH } from './api.ts';
import { createAttempt } from './attempt.ts';
import { createDeliver } from './deliver.ts';
import { checkDestination, type DestinationRules } from './destination.ts';
import { createEndpointSlots } from './endpoint-slots.ts';
import { sendFailure } from './failure.ts';
import { createFaultLog } from './fault-log.ts';
import { answerIntake, INTAKE_PATH } from './intake.ts';
import { ADVICE, countLost } from './lost-secrets.ts';
import { createMetrics } from './metrics.ts';
import { answerMetrics, listenForScrapers, METRICS_PATH } from './metrics-page.ts';
import { makeSecret, openSecret, sealSecret } from './secret.ts';
import type { WebhookStore } from './store.ts';
import { DEFAULT_TUNING, type Tuning } from './tuning.ts';
import { createAlerts } from './warnings.ts';

export interface WebhooksOptions extends ListenOptions {
  readonly store: WebhookStore;
  /** The key that seals secrets: 32 bytes, the same for all processes of one store. */
  readonly sealingKey: Buffer;
  readonly destinations: DestinationRules;
  /** A listener for /metrics only, for a Prometheus on another machine; absent: none. */
  readonly metrics?: ListenOptions | undefined;
  /** PEM of the certificates of our own receivers, at this moment. */
  readonly ca: () => string | undefined;
  readonly tuning?: Partial<Tuning>;
  /** Writes one line for the operator, without secrets. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface WebhooksService extends Service {
  readonly metricsUrl?: string;
}

const FORGET_EVERY_MS = 3_600_000;
/** After the drain: time for an unavailable store. */
const END_WITHIN_MS = 500;

/** Rejects if the port is not available. `close` waits for running attempts, up to `drainMs`. */
export async function startWebhooks(options: WebhooksOptions): Promise<WebhooksService> {
  const { store, sealingKey, destinations, ca, log, now = Date.now, random = Math.random } = options;
  const tuning: Tuning = { ...DEFAULT_TUNING, ...options.tuning };
  const { rules } = tuning;
  const metrics = createMetrics(store, now);
  const ending = new AbortController();
  const onFault = createFaultLog(log, now);
  const apiParts = {
    store,
    rules,
    now,
    manualDeliveries: createAttempts({ most: tuning.askedPerMinute, windowMs: 60_000, now }),
    checkUrl: (url: string) => checkDestination(url, destinations),
    newSecret: () => {
      const secret = makeSecret();
      return { secret, sealed: sealSecret(sealingKey, secret) };
    },
    newId: (prefix: string) => `${prefix}_${randomBytes(16).toString('base64url')}`,
  };
  const failing = (request: IncomingMessage, response: ServerResponse) => (error: unknown) =>
    sendFailure(request, response, error, { now, log, onFault });
  const open = (sealed: string) => openSecret(sealingKey, sealed);
  const intakeParts = { store, now, observe: metrics.countEvent };

  const service = await listen((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const answer = async (): Promise<void> => {
      if (path === PATH || path.startsWith(`${PATH}/`)) return answerApi(apiParts, request, response);
      if (path === INTAKE_PATH) return answerIntake(intakeParts, request, response);
      if (path.startsWith('/admin/')) return answerAdmin({ store, rules, now }, request, response);
      if (path === METRICS_PATH && isLocalRequest(request)) return answerMetrics(metrics, request, response);
      if (path === '/readyz') {
        await store.deliveries.counts();
        return sendJson(response, 200, { status: 'ok' }, { 'Cache-Control': 'no-store' });
      }
      sendError(response, 404, 'There is no such resource');
    };
    answer().catch(failing(request, response));
  }, options);
  const forScrapers = await listenForScrapers(metrics, options.metrics, failing).catch(
    async (error: unknown) => {
      await service.close();
      throw error;
    },
  );

  const alerts = createAlerts({
    store,
    rules,
    now,
    report: (event, details) => {
      log({ event, ...details });
      if (event === 'webhook_failing') metrics.countAlert(Number(details.level));
      else metrics.countDisabled(String(details.reason));
    },
  });
  const work = store.work(
    createDeliver({
      store,
      attempt: createAttempt({ rules: destinations, ca, timeoutMs: tuning.attemptMs, now }),
      nextDelay: tuning.nextDelay,
      openSecret: open,
      slots: createEndpointSlots(tuning),
      rules,
      alerts,
      observe: (delivery, attempt) => {
        metrics.countAttempt(delivery, attempt);
        const { id, subscription, type, state } = delivery;
        if (state === 'dead') log({ event: 'dead_letter', delivery: id, subscription, type });
      },
      ending: ending.signal,
      now,
      random,
    }),
    { concurrency: tuning.concurrency, leaseMs: tuning.leaseMs, onFault },
  );
  countLost(store, open, now())
    .then((lost) => {
      if (lost > 0) log({ event: 'secrets_lost', subscriptions: lost, advice: ADVICE });
    })
    .catch(onFault);
  const forgetting = setInterval(() => {
    store.forget(now() - tuning.keepMs).catch(onFault);
  }, FORGET_EVERY_MS);
  forgetting.unref();

  return {
    ...service,
    ...(forScrapers !== undefined && { metricsUrl: forScrapers.url }),
    close: async () => {
      clearInterval(forgetting);
      await Promise.all([service.close(), forScrapers?.close()]);
      const drained = work.stop().catch(onFault);
      await Promise.race([drained, pause(tuning.drainMs)]);
      ending.abort();
      await Promise.race([drained, pause(END_WITHIN_MS)]);
      await store.close();
    },
  };
}
