// The transport on real sockets, around a small hand-written exchange: what tests of server/ and forward/ start.
// The exchange forwards `/echo…` to one upstream and refuses what a test tells it to.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Directive, Fault, type ForwardOrder, type Refusal } from '../../gateway/exchange/directive.ts';
import type { Answer, Exchange, Outcome } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { RequestView } from '../../gateway/exchange/request-view.ts';
import { createForwarder } from '../../gateway/forward/forwarder.ts';
import { createPools, type Pools } from '../../gateway/forward/pools.ts';
import { createWebsockets, type Websockets } from '../../gateway/forward/websocket.ts';
import type { GatewayPlan, UpstreamPlan } from '../../gateway/plan/plan.ts';
import { loadCertificates } from '../../gateway/server/certificates.ts';
import { DEFAULT_LIMITS, type ListenerLimits } from '../../gateway/server/node-server.ts';
import { createProxyListener, type ProxyListener } from '../../gateway/server/proxy-listener.ts';

export interface GatewayOptions {
  readonly upstream?: string;
  readonly plan?: Partial<UpstreamPlan>;
  readonly removeHeaders?: readonly string[];
  readonly tls?: boolean;
  readonly mode?: 'serve' | 'reject';
  readonly limits?: Partial<ListenerLimits>;
  readonly trustedProxies?: readonly string[];
  /** Refuses the request, or holds it until the promise resolves. */
  readonly decide?: (view: RequestView) => Promise<Refusal | undefined> | Refusal | undefined;
  readonly ca?: string;
  /** Whether the version of open WebSockets has ended. */
  readonly isOver?: () => boolean;
}

export interface GatewayUnderTest {
  readonly port: number;
  readonly listener: ProxyListener;
  readonly pools: Pools;
  readonly websockets: Websockets;
  readonly outcomes: Outcome[];
  readonly facts: ExchangeFacts[];
  readonly views: RequestView[];
  readonly fingerprint: string | undefined;
  readonly stop: () => Promise<void>;
}

const NO_PLAN: GatewayPlan = {
  revision: '0',
  public: 'https://api.example.com',
  apis: [],
  routes: { knowsHost: () => true, match: () => undefined },
  guard: undefined,
  credentialsInUrl: new Set(),
};

const STATUS: Partial<Record<Refusal['reason'], number>> = {
  method_unknown: 501,
  transfer_coding_unknown: 501,
  protocol_version_unsupported: 505,
  websocket_version_unsupported: 426,
  route_unknown: 404,
  plain_http: 400,
  credentials_missing: 401,
  credentials_in_url: 400,
};

function testExchange(options: GatewayOptions, seen: Pick<GatewayUnderTest, 'facts' | 'views'>): Exchange {
  const upstream: UpstreamPlan = {
    name: 'echo-v1',
    targets: [{ origin: options.upstream ?? 'http://127.0.0.1:1' }],
    path: '/echo',
    versionHeader: 'API-Version',
    versionQuery: undefined,
    authorization: 'keep',
    timeouts: { connect: 1_000, headers: 2_000, idle: 2_000, total: 5_000 },
    ...options.plan,
  };
  const made = (status: number, code: string, facts: ExchangeFacts): Answer => ({
    status,
    headers: {
      'content-type': 'application/json',
      'x-request-id': facts.requestId,
      'content-length': undefined,
    },
    body: JSON.stringify({ error: code }),
  });
  return {
    begin: (requestId) => ({
      plan: NO_PLAN,
      now: 0,
      overrides: [],
      startedAt: performance.now(),
      requestId,
      api: undefined,
      version: undefined,
      carrier: undefined,
      perAccount: false,
      sparesSome: false,
      requested: undefined,
      phase: undefined,
      successor: { replacement: undefined, successor: undefined },
      relatedLinks: undefined,
      consumer: undefined,
      quota: undefined,
      refusal: undefined,
      observed: undefined,
      fault: undefined,
      bodyNotice: undefined,
      upstreamMs: undefined,
    }),
    async decide(view, facts): Promise<Directive> {
      seen.views.push(view);
      seen.facts.push(facts);
      const refusal = await options.decide?.(view);
      if (refusal !== undefined) return { kind: 'refuse', refusal };
      if (view.host !== 'api.example.com') return { kind: 'refuse', refusal: { reason: 'host_unknown' } };
      if (!view.path.startsWith('/echo')) return { kind: 'refuse', refusal: { reason: 'route_unknown' } };
      const forward: ForwardOrder = {
        upstream,
        target: view.path + view.search,
        label: 'v1',
        removeHeaders: options.removeHeaders ?? [],
      };
      return { kind: 'forward', forward };
    },
    refuse(refusal, facts, { scheme }) {
      facts.refusal = refusal.reason;
      const status =
        refusal.reason === 'request_malformed' ? refusal.status : (STATUS[refusal.reason] ?? 421);
      const answer = made(status, refusal.reason, facts);
      return { ...answer, headers: { ...answer.headers, 'x-scheme': scheme } };
    },
    publish: ({ status, headers, body }) => ({ status, headers: { ...headers }, body }),
    fail(thrown, facts) {
      const code = thrown instanceof Fault ? thrown.code : 'internal';
      facts.fault = code;
      return made(code === 'internal' ? 500 : code.endsWith('_timeout') ? 504 : 502, code, facts);
    },
    decorate(headers, facts) {
      headers.deprecation = '@1';
      headers['x-request-id'] = facts.requestId;
    },
    isOver: () => options.isOver?.() ?? false,
  };
}

export async function startGateway(options: GatewayOptions = {}): Promise<GatewayUnderTest> {
  const outcomes: Outcome[] = [];
  const facts: ExchangeFacts[] = [];
  const views: RequestView[] = [];
  const exchange = testExchange(options, { facts, views });
  const pools = createPools({ connections: 64, ca: options.ca });
  const address = { host: '127.0.0.1', port: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'sundial-tls-'));
  const certificates = options.tls
    ? await loadCertificates(
        { address, hstsSeconds: undefined, certificates: [], defaultName: undefined },
        { dataFolder: folder, hosts: ['api.example.com'], now: Date.now() },
      )
    : undefined;
  const websockets = createWebsockets({ exchange, pools, ca: options.ca });
  const listener = createProxyListener({
    address,
    ...(certificates === undefined ? {} : { certificates }),
    mode: options.mode ?? 'serve',
    trustedProxies: options.trustedProxies ?? [],
    exchange,
    observer: { onAnswer: (_facts, outcome) => void outcomes.push(outcome) },
    forwarder: createForwarder({ exchange, pools }),
    websockets,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    now: Date.now,
  });
  const port = await listener.listen();
  return {
    port,
    listener,
    pools,
    websockets,
    outcomes,
    facts,
    views,
    fingerprint: certificates?.fingerprint,
    async stop() {
      listener.destroy();
      await listener.stop();
      await pools.close();
      await rm(folder, { recursive: true });
    },
  };
}
