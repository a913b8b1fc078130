// Runs everything that `npm start` runs inside a test: gateway, sample policies, sample services and issuer.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCatalog } from '../../upstreams/catalog/catalog.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { SAMPLE_CLIENT_SECRETS } from '../../upstreams/identity/sample-secrets.ts';
import { startIssuer } from '../../upstreams/identity/server.ts';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import { startPayments } from '../../upstreams/payments/payments.ts';
import { loadPair, type Pair } from '../../upstreams/receiver/certificate.ts';
import { openReceived, type Received } from '../../upstreams/receiver/received.ts';
import { HOOKS, startReceiver } from '../../upstreams/receiver/receiver.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { loadSealingKey } from '../../upstreams/webhooks/secret.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import type { Tuning } from '../../upstreams/webhooks/tuning.ts';
import { startWebhooks } from '../../upstreams/webhooks/webhooks.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { overHttp1 } from './http-client.ts';
import { freePorts } from './ports.ts';

export interface SampleFixture extends AsyncDisposable {
  readonly gateway: RunningGateway;
  /** The origin of the gateway in links and locations. */
  readonly origin: string;
  /** An Authorization value of the consumer acme with every scope. */
  readonly authorization: string;
  /** As `authorization`, for any machine client by its id. */
  readonly authorizationOf: (client: string) => Promise<string>;
  readonly folder: string;
  readonly receiver: {
    /** URL of deliveries. */
    readonly hooks: string;
    readonly received: Received;
    /** Accepts deliveries signed with this secret. */
    readonly believe: (secret: string) => void;
    /** Its certificate. Other servers with this certificate can receive deliveries after `alsoAllow`. */
    readonly pair: Pair;
    readonly alsoAllow: (host: string) => void;
  };
  /** May be called twice. */
  readonly stopCatalog: () => Promise<void>;
}

export interface SampleFixtureOptions {
  /** The lifecycle clock; default: it stands still at 2026-11-20. */
  readonly lifecycleNow?: () => number;
  /** Absolute path of a gateway file in place of the project's. */
  readonly config?: string;
  /** Further variables for its policies. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly tuning?: Partial<Tuning>;
}

export async function startSampleFixture(options: SampleFixtureOptions = {}): Promise<SampleFixture> {
  const { lifecycleNow, config = '../../config/gateway.yaml', environment, tuning = {} } = options;
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-samples-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const stop = new Map<string, () => Promise<void>>();
  const keep = (name: string, service: Service): string => {
    let stopped: Promise<void> | undefined;
    const once = () => {
      stopped ??= service.close();
      return stopped;
    };
    stop.set(name, once);
    stack.defer(once);
    return String(service.port);
  };
  const secrets: string[] = [];
  const received = openReceived(':memory:');
  const pair = await loadPair(folder, Date.now());
  const receiver = await startReceiver({
    port: 0,
    pair,
    secrets: () => secrets,
    received,
    now: Date.now,
  });
  keep('receiver', receiver);
  stack.defer(() => received[Symbol.dispose]());
  const allow = [new URL(receiver.url).host];
  const webhooks = await startWebhooks({
    port: 0,
    tuning,
    store: openSqliteStore({ file: join(folder, 'webhooks.db'), now: Date.now }),
    sealingKey: loadSealingKey(folder),
    destinations: { allow, deny: [] },
    ca: () => readFileSync(join(folder, 'receiver.crt'), 'utf8'),
    log: () => undefined,
  });
  const intake = `${webhooks.url}/events`;
  // The gateway's port must be known before it listens: links and the issuer's name contain it.
  const [https] = await freePorts(1);
  const origin = `https://127.0.0.1:${https}`;
  const issuer = await startIssuer({ port: 0, dataFolder: folder, issuer: `${origin}/auth` });
  stack.defer(issuer.close);
  const gateway = stack.use(
    await runGateway({
      config,
      ...(lifecycleNow !== undefined && { lifecycleNow }),
      environment: {
        ...environment,
        SUNDIAL_DATA: folder,
        SUNDIAL_STORE: `embedded:${folder}`,
        SUNDIAL_HTTPS_PORT: String(https),
        SUNDIAL_HTTP_PORT: '0',
        SUNDIAL_ADMIN_PORT: '0',
        SUNDIAL_ISSUER_PORT: String(issuer.port),
        SUNDIAL_ORDERS_V1_PORT: keep(
          'orders-v1',
          await startOrdersV1({ port: 0, dataFolder: folder, intake }),
        ),
        SUNDIAL_ORDERS_V2_PORT: keep(
          'orders-v2',
          await startOrdersV2({ port: 0, dataFolder: folder, intake }),
        ),
        SUNDIAL_CATALOG_PORT: keep('catalog', await startCatalog({ port: 0 })),
        SUNDIAL_PAYMENTS_PORT: keep('payments', await startPayments({ port: 0, intake })),
        SUNDIAL_ECHO_PORT: keep('echo', await startEcho({ port: 0 })),
        SUNDIAL_WEBHOOKS_PORT: keep('webhooks', webhooks),
      },
    }),
  );
  const tokens = stack.use(overHttp1(issuer.port, { tls: false }));
  const authorizationOf = async (id: string): Promise<string> => {
    const secret = SAMPLE_CLIENT_SECRETS[id];
    if (secret === undefined) throw new Error(`the sample issuer knows no ${id}`);
    const granted = await tokens.ask({
      path: '/auth/token',
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`,
    });
    return `Bearer ${granted.json.access_token}`;
  };
  return {
    gateway,
    origin,
    authorization: await authorizationOf('acme'),
    authorizationOf,
    folder,
    receiver: {
      hooks: `${receiver.url}${HOOKS}`,
      received,
      believe: (secret) => void secrets.push(secret),
      pair,
      alsoAllow: (host) => void allow.push(host),
    },
    stopCatalog: async () => stop.get('catalog')?.(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
