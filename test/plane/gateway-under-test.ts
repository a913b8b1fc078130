// Starts the transport on real sockets around a small exchange, which forwards `/echo…`.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { type Directive, Fault, type ForwardOrder, type Refusal } from '../../gateway/exchange/directive.ts';
import type { Exchange, ExchangeAnswer, ExchangeOutcome } from '../../gateway/exchange/exchange.ts';
import { type ExchangeFacts, factsOf } from '../../gateway/exchange/facts.ts';
import type { RequestView } from '../../gateway/exchange/request-view.ts';
import type { ExpiryCause } from '../../gateway/exchange/tunnel-service.ts';
import type { Bounds, Overload, PlaneName } from '../../gateway/plan/bounds.ts';
import { compileBounds } from '../../gateway/plan/compile/bounds.ts';
import type { GatewayPlan, UpstreamPlan } from '../../gateway/plan/plan.ts';
import type { Address, PlainMode } from '../../gateway/plan/settings.ts';
import { answerFieldsOf } from '../../gateway/plan/upstreams/answer-fields.ts';
import { connectForPlanes, type PlaneConnections } from '../../gateway/plane/connect-target.ts';
import { createForwarding } from '../../gateway/plane/forwarding.ts';
import type { Websockets } from '../../gateway/plane/general/websocket/websocket.ts';
import type { Listener } from '../../gateway/plane/port.ts';
import { createProxyListener } from '../../gateway/plane/proxy-listener.ts';
import { certificatesOf } from '../../gateway/server/certificates.ts';
import { createListenerLimits } from '../../gateway/server/public-listeners.ts';
import { selfSignedPair } from '../../gateway/server/self-signed.ts';
import { createTlsTermination } from '../../gateway/server/tls-options.ts';
import { type BoundsSamples, createBoundsReport } from '../../gateway/telemetry/reports/bounds-report.ts';
import type { StartDeadline } from '../../gateway/upstream/deadlines.ts';
import { openUpstreams, type PoolOptions, type Upstreams } from '../../gateway/upstream/upstreams.ts';
import { upstream as sampleUpstream } from '../support/exchange-samples.ts';

/** The default plane of the tests. */
export const PLANE: PlaneName = process.env.TEST_PLANE === 'general' ? 'general' : 'fast';

export interface GatewayOptions {
  readonly plane?: PlaneName;
  /** Default: a free local port. */
  readonly address?: Address;
  /** A file descriptor, as a worker gets it. */
  readonly socket?: number;
  readonly upstream?: string;
  readonly plan?: Partial<UpstreamPlan>;
  /** In addition to the version header. */
  readonly withheld?: readonly string[];
  readonly tls?: boolean;
  readonly mode?: PlainMode;
  readonly sendsForwarded?: boolean;
  readonly bounds?: Partial<Bounds>;
  readonly overload?: Overload;
  readonly trustedProxies?: readonly string[];
  /** Refuses the request, or delays it until the promise resolves. */
  readonly decide?: (view: RequestView) => Promise<Refusal | undefined> | Refusal | undefined;
  readonly ca?: string;
  /** Replaces the small exchange. */
  readonly exchange?: Exchange;
  readonly order?: Partial<ForwardOrder>;
  readonly reach?: Pick<PoolOptions<PlaneConnections>, 'findAddresses' | 'lookupEveryMs'>;
  readonly startDeadline?: StartDeadline;
  readonly ending?: () => ExpiryCause | undefined;
}

export interface GatewayUnderTest {
  readonly port: number;
  readonly listener: Listener;
  readonly upstreams: Upstreams;
  readonly websockets: Websockets;
  readonly samples: BoundsSamples;
  readonly outcomes: ExchangeOutcome[];
  readonly facts: ExchangeFacts[];
  readonly views: RequestView[];
  readonly fingerprint: string | undefined;
  readonly stop: () => Promise<void>;
}

export function carried({ samples }: Pick<GatewayUnderTest, 'samples'>): Readonly<Record<PlaneName, number>> {
  const count = (plane: PlaneName): number =>
    [...samples.byPlane()].reduce((sum, [[of], value]) => (of === plane ? sum + value : sum), 0);
  return { fast: count('fast'), general: count('general') };
}

const NO_PLAN: GatewayPlan = {
  revision: '0',
  public: 'https://api.example.com',
  apis: [],
  apiNamed: () => undefined,
  routes: { knowsHost: () => true, match: () => undefined, below: () => undefined },
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
  body_too_large: 413,
  overloaded: 503,
  websockets_exhausted: 429,
};

const FAULT_STATUS: Partial<Record<Fault['code'], number>> = {
  internal: 500,
  upstream_busy: 503,
  upstream_unavailable: 503,
};

function testExchange(options: GatewayOptions, seen: Pick<GatewayUnderTest, 'facts' | 'views'>): Exchange {
  const upstream: UpstreamPlan = {
    ...sampleUpstream,
    name: 'echo-v1',
    answerFields: answerFieldsOf(options.order?.headerRules),
    targets: [{ origin: options.upstream ?? 'http://127.0.0.1:1' }],
    path: '/echo',
    versionHeader: 'API-Version',
    versionQuery: undefined,
    withheld: new Set(['api-version', ...(options.withheld ?? [])]),
    timeouts: { connect: 1_000, headers: 2_000, idle: 2_000, total: 5_000 },
    ...options.plan,
  };
  const made = (status: number, code: string, facts: ExchangeFacts): ExchangeAnswer => ({
    status,
    headers: new HeaderLines({
      'content-type': 'application/json',
      'x-request-id': facts.start.requestId,
      'content-length': undefined,
    }),
    body: JSON.stringify({ error: code }),
  });
  return {
    begin: (requestId) =>
      factsOf({
        ...{ plan: NO_PLAN, now: 0, overrides: [], startedAt: performance.now() },
        ...{ requestId, trace: undefined },
      }),
    resume: () => undefined,
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
        maxBody: Number.POSITIVE_INFINITY,
        ...options.order,
      };
      return { kind: 'forward', forward };
    },
    refuse(refusal, facts, { scheme }) {
      facts.completion.refusal = refusal.reason;
      const status =
        refusal.reason === 'request_malformed' ? refusal.status : (STATUS[refusal.reason] ?? 421);
      const answer = made(status, refusal.reason, facts);
      answer.headers.set('x-scheme', scheme);
      return answer;
    },
    publish: ({ status, headers, body }) => ({
      status,
      headers: new HeaderLines(headers),
      body,
    }),
    fail(thrown, facts) {
      const fault = thrown instanceof Fault ? thrown : new Fault('internal');
      const { code } = fault;
      facts.completion.fault = fault;
      return made(FAULT_STATUS[code] ?? (code.endsWith('_timeout') ? 504 : 502), code, facts);
    },
    decorate(_status, headers, facts) {
      headers.set('deprecation', '@1');
      headers.set('x-request-id', facts.start.requestId);
    },
    expiryCauseOf: () => options.ending?.(),
  };
}

export async function startGateway(options: GatewayOptions = {}): Promise<GatewayUnderTest> {
  const outcomes: ExchangeOutcome[] = [];
  const facts: ExchangeFacts[] = [];
  const views: RequestView[] = [];
  const exchange = options.exchange ?? testExchange(options, { facts, views });
  const upstreams = openUpstreams({
    connect: (origin, upstream, ports) => connectForPlanes(origin, upstream, { ...ports, ca: options.ca }),
    onChange: () => undefined,
    ...options.reach,
  });
  const folder = await mkdtemp(join(tmpdir(), 'sundial-tls-'));
  const certificates = options.tls
    ? certificatesOf([await selfSignedPair(folder, ['api.example.com'], Date.now())], {
        defaultName: undefined,
        refusesNameless: false,
      })
    : undefined;
  const report = createBoundsReport();
  const limits = createListenerLimits({
    bounds: { ...compileBounds({}), ...options.bounds },
    overload: options.overload,
    trustedProxies: options.trustedProxies ?? [],
    report,
    monotonic: () => performance.now(),
    now: Date.now,
  });
  const forwarding = createForwarding({
    exchange,
    ...upstreams,
    ...(options.startDeadline && { startDeadline: options.startDeadline }),
    countWebsockets: () => undefined,
    idleWebsockets: limits.idleWebsockets,
  });
  const listener = createProxyListener({
    address: options.address ?? { host: '127.0.0.1', port: 0 },
    socket: options.socket,
    tls:
      certificates &&
      createTlsTermination({ current: () => certificates, onChange: () => undefined }, Date.now),
    mode: options.mode ?? 'serve',
    sendsForwarded: options.sendsForwarded ?? false,
    exchange,
    observer: { onAnswer: (_facts, outcome) => void outcomes.push(outcome) },
    ...forwarding,
    plane: options.plane ?? PLANE,
    limits,
    now: Date.now,
  });
  const port = await listener.listen();
  return {
    port,
    listener,
    upstreams,
    websockets: forwarding.websockets,
    samples: report,
    outcomes,
    facts,
    views,
    fingerprint: certificates?.fingerprint,
    async stop() {
      listener.destroy();
      await listener.stop();
      limits.load.stop();
      await upstreams.close();
      await rm(folder, { recursive: true });
    },
  };
}
