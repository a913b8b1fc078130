// npm run bench:stages: the cost of each stage of a request in a loop. Real use costs up to three times more.
import { parseArgs } from 'node:util';
import type { HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { decorate } from '../../gateway/exchange/answers/decorate.ts';
import { clampFreshness, longestReuse } from '../../gateway/exchange/answers/freshness.ts';
import type { ExchangeOutcome } from '../../gateway/exchange/exchange.ts';
import { readTarget } from '../../gateway/exchange/request-view.ts';
import { callerOf, refuseUnauthorised } from '../../gateway/exchange/steps/admission.ts';
import { forwardOrder } from '../../gateway/exchange/steps/forward-order.ts';
import { judgedRules, withConsumer } from '../../gateway/exchange/steps/judged-rules.ts';
import { pathReadings } from '../../gateway/exchange/steps/misreadings.ts';
import { partsOf } from '../../gateway/exchange/steps/rate-limit.ts';
import { operationsAt, statedVersion } from '../../gateway/exchange/steps/resolution.ts';
import { strictnessRefusal } from '../../gateway/exchange/strictness.ts';
import { clientOf, requestedHost } from '../../gateway/plane/client-connection.ts';
import { inboundOf } from '../../gateway/plane/general/request/message.ts';
import { connectionFacts, OpenRequest } from '../../gateway/plane/general/request/open-request.ts';
import { readRequest } from '../../gateway/plane/general/request/request-view.ts';
import { requestIdOf } from '../../gateway/plane/request-reading.ts';
import { createAccessLog } from '../../gateway/telemetry/logs/access-log.ts';
import { createLogSink } from '../../gateway/telemetry/logs/log-sink.ts';
import { createRequestMetrics } from '../../gateway/telemetry/requests/request-metrics.ts';
import { Slot } from '../../gateway/upstream/concurrency-limit.ts';
import { upstreamHeaders } from '../../gateway/upstream/request-headers.ts';
import { cleanAnswer } from '../../gateway/upstream/response-headers.ts';
import type { Choice } from '../../gateway/upstream/targets/target-state.ts';
import { callerIdOf } from '../../gateway/upstream/targets/targets.ts';
import { openGround, runBounded } from './ground.ts';
import { openStageParts } from './stage-parts.ts';
import { pricesOf, type Stage, stage } from './stage-prices.ts';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const LONGEST_MINUTES = 5;

/** As the bench's upstream responds. */
const ANSWER = {
  server: 'nginx',
  date: new Date().toUTCString(),
  'content-type': 'application/json',
  'content-length': '1024',
  connection: 'keep-alive',
  'cache-control': 'max-age=60',
  etag: '"bench-1"',
};

const OUTCOME: Omit<ExchangeOutcome, 'clientAddress' | 'clientNetwork'> = {
  method: 'GET',
  host: 'api.example.com',
  path: '/api/v1/orders/1000',
  status: 200,
  bytes: 1_024,
  scheme: 'http',
  protocol: 'HTTP/1.1',
  aborted: false,
  userAgent: 'sundial-bench/1.0',
};

await runBounded(LONGEST_MINUTES, async (stack) => {
  const ground = await openGround(stack, { store: 'embedded' });
  const parts = await openStageParts(stack, ground);
  const { plan, ports, exchange, upstreams, limits, telemetry, raw, res, context, reading, view } = parts;
  const { facts, order, consumer } = parts;

  const match = plan.routes.match(view.host, view.path);
  if (match === undefined || facts.decision.version === undefined)
    throw new Error('the request has no version');
  const resolved = statedVersion(match, view, facts.start);
  if (resolved.kind !== 'resolved') throw new Error('the version is refused');
  const found = { match, resolved, ...operationsAt(resolved.whole, view.method, undefined)[0] };
  const fresh = () => exchange.begin(context.requestId, view.headers);
  /** As when `decide` reaches a stage. */
  const { start } = facts;
  const judged = () => judgedRules(found, view, start);
  const identified = () => withConsumer(judged(), consumer, start.now);
  const asked = { view, start, ports };
  const client = context.address;
  const open = new OpenRequest({
    raw,
    res,
    isHttp2: false,
    facts,
    connection: context.connection,
    client,
    glimpse: view,
    view,
  });
  const inboundPorts = { sendsForwarded: false, isDraining: () => false };
  const inbound = inboundOf(open, reading, inboundPorts);
  const { limit } = upstreams.pools.route(order.upstream, order.upstream.targets[0] ?? { origin: '' });
  const outcome: ExchangeOutcome = { ...OUTCOME, clientAddress: client.full, clientNetwork: client.key };
  const answer = (): HeaderLines => cleanAnswer(200, ANSWER, order.upstream);
  const choose = () => upstreams.targets.choose(order.upstream, callerIdOf(facts.decision, inbound));
  const pass = (choice: Choice): void => {
    const slot = new Slot(limit, choice, false, { onSlot: nothing, onBusy: nothing });
    slot.enter(order.upstream.connections);
    slot.settle('answered');
  };
  const metrics = createRequestMetrics();
  const accessLog = createAccessLog(createLogSink({ write: nothing }), parts.settings.accessLog);

  // An indented stage is a part of the one above it. `prepare` is not measured.
  const stages: readonly Stage[] = [
    stage('client address', () =>
      clientOf(connectionFacts(raw.socket, limits.clientAddress, undefined), undefined, limits.clientAddress),
    ),
    stage('request id', () => requestIdOf(raw)),
    stage('begin', () => exchange.begin(context.requestId, view.headers)),
    stage('read request', () => readRequest(raw, context)),
    stage('  strictness', () => strictnessRefusal(raw, false, context.bounds)),
    stage('  target', () => readTarget(raw.url ?? '', 'GET')),
    stage('  authority', () => requestedHost(context.connection, raw.headers.host ?? '')),
    stage('inbound', () => inboundOf(open, reading, inboundPorts)),
    stage('decide', (each) => exchange.decide(view, each), fresh),
    stage('  guard', () => plan.guard && ports.guard(view.clientAddress, plan.guard)),
    stage('  route', () => plan.routes.match(view.host, view.path)),
    stage('  path readings', () => pathReadings(match.route, match.tail, false)),
    stage('  resolve version', () => statedVersion(match, view, start)),
    stage('  rules, phase and links', judged),
    stage('  authenticate, cache hit', (each) => callerOf(each, each, undefined, asked), judged),
    stage('  scopes', (each) => refuseUnauthorised(each, asked), identified),
    stage('  limits', (each) => ports.limiter.take(partsOf(each, view.clientAddress, start.now)), identified),
    stage('  forward order', () => forwardOrder(match.route, resolved.whole, match.tail, view, plan.public)),
    stage('upstream headers', () => upstreamHeaders(inbound, order)),
    stage('target choice', () => choose().settle('answered')),
    stage('concurrency limit', pass, choose),
    stage('clean answer', () => cleanAnswer(200, ANSWER, order.upstream)),
    stage('freshness and decorate', (headers) => exchange.decorate(200, headers, facts, view), answer),
    stage('  freshness', (headers) => clampFreshness(headers, longestReuse(facts), Date.now()), answer),
    stage('  decorate', (headers) => decorate(headers, facts, view, undefined), answer),
    stage('observe', () => telemetry.observer.onAnswer(facts, outcome)),
    stage('  metrics', () => metrics.record(facts, outcome, 1.8e12, 2.5)),
    stage('  ledger', () => telemetry.ledger?.record(facts, outcome)),
    stage('  access line', () => accessLog.record(facts, outcome, 1.8e12, 2.5)),
  ];
  process.stdout.write(`${(await pricesOf(stages, options.quick)).join('\n')}\n`);
});

function nothing(): void {}
