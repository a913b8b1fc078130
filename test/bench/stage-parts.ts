// The gateway's parts for bench:stages, composed as in service.ts, with one real request.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ForwardOrder } from '../../gateway/exchange/directive.ts';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { ExchangePorts } from '../../gateway/exchange/ports.ts';
import { RecordFields, type RequestView } from '../../gateway/exchange/request-view.ts';
import { openAuthenticators } from '../../gateway/identity/authenticators.ts';
import { hasPlan, type LoadedPlan, loadAll } from '../../gateway/plan/load.ts';
import { connectForPlanes } from '../../gateway/plane/connect-target.ts';
import { type ConnectionFacts, connectionFacts } from '../../gateway/plane/general/request/open-request.ts';
import { readRequest } from '../../gateway/plane/general/request/request-view.ts';
import type { ListenerLimits } from '../../gateway/plane/port.ts';
import { type RequestReading, requestIdOf } from '../../gateway/plane/request-reading.ts';
import type { Consumer } from '../../gateway/policy/authentication/access.ts';
import { createListenerLimits } from '../../gateway/server/public-listeners.ts';
import { createAdoption, WITHOUT_LEDGER } from '../../gateway/stores/adoption.ts';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { atOnce } from '../../gateway/system/time-slices.ts';
import { createTelemetry, type Telemetry } from '../../gateway/telemetry/telemetry.ts';
import { openUpstreams, type Upstreams } from '../../gateway/upstream/upstreams.ts';
import { portOf } from './children.ts';
import { folderFor, type Ground } from './ground.ts';
import { type BenchRequest, benchRequests, requestHeaders } from './work.ts';

export interface StageParts {
  readonly settings: LoadedPlan['settings'];
  readonly plan: LoadedPlan['plan'];
  readonly ports: ExchangePorts;
  readonly exchange: Exchange;
  readonly upstreams: Upstreams;
  readonly limits: ListenerLimits;
  readonly telemetry: Telemetry;
  /** A request as Node's server passes it on, without a response. */
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  readonly context: Parameters<typeof readRequest>[1] & { readonly connection: ConnectionFacts };
  readonly reading: Extract<RequestReading, { kind: 'view' }>;
  readonly view: RequestView;
  /** As `decide` set them. */
  readonly facts: ExchangeFacts;
  readonly order: ForwardOrder;
  readonly consumer: Consumer;
}

export async function openStageParts(stack: AsyncDisposableStack, ground: Ground): Promise<StageParts> {
  const [wallClock, monotonic] = [Date.now, () => performance.now()];
  const own = join(import.meta.dirname, 'peers/sundial');
  const folder = folderFor('stages', ground.folder);
  const loaded = await loadAll({
    configFile: join(own, 'gateway.yaml'),
    environment: {
      ...{ ...ground.environment, BENCH_DATA: folder, BENCH_POLICIES: join(own, 'full') },
      ...{ BENCH_PORT: '0', BENCH_HTTPS_PORT: '0', BENCH_ADMIN_PORT: '0', BENCH_STORE: `embedded:${folder}` },
    },
    now: wallClock(),
  });
  if (!hasPlan(loaded)) throw new Error(`the policy is refused: ${JSON.stringify(loaded.problems)}`);
  const { settings, plan } = loaded;
  const telemetry = createTelemetry({
    ...{ plan: () => plan, now: wallClock, overrides: () => [], wallClock, monotonic },
    ...{ log: join(folder, 'gateway.log'), settings },
  });
  stack.defer(telemetry.close);
  const stores = await openStores({ ...settings, monotonic, onState: () => undefined, onFault: raise });
  stack.defer(stores.close);
  const authenticators = openAuthenticators(settings.identities, {
    ...{ now: wallClock, keys: stores.keys, onKeys: () => undefined, onIntrospection: () => undefined },
  });
  stack.defer(authenticators.close);
  const ports: ExchangePorts = {
    ...stores,
    ...{ plan: () => plan, now: wallClock, wallClock, monotonic, overrides: stores.overrides.current },
    authenticators: authenticators.byName,
    beginTrace: telemetry.beginTrace,
    adoption: createAdoption(WITHOUT_LEDGER, { now: monotonic, onUnjudged: () => undefined }),
    hstsSeconds: undefined,
    onFault: raise,
  };
  const exchange = createExchange(ports);
  const upstreams = openUpstreams({ connect: connectForPlanes, onChange: () => undefined });
  stack.defer(upstreams.close);
  atOnce(upstreams.keepSteps(plan));
  const limits = createListenerLimits({ ...settings, report: telemetry.bounds, monotonic, now: wallClock });
  stack.defer(limits.load.stop);

  const [sample] = benchRequests(ground.tokens.slice(0, 1));
  if (sample === undefined) throw new Error('there is nothing to ask');
  const { raw, res } = await receive(stack, sample);
  const requestId = requestIdOf(raw);
  const headers = new RecordFields(raw.headers);
  const facts = exchange.begin(requestId, headers);
  const connection = connectionFacts(raw.socket, limits.clientAddress, undefined);
  const context: StageParts['context'] = {
    ...{ scheme: 'http', isHttp2: false, requestId, trace: facts.start.trace, connection, headers },
    ...{ address: connection.peer, bounds: limits.bounds },
  };
  const reading = readRequest(raw, context);
  if (reading.kind !== 'view') throw new Error('the request is refused');
  const { view } = reading;
  const directive = await exchange.decide(view, facts);
  const { consumer } = facts.decision;
  if (directive.kind !== 'forward' || consumer === undefined)
    throw new Error(`the request is not forwarded: ${JSON.stringify(directive)}`);
  const seen = { raw, res, context, reading, view, facts, order: directive.forward, consumer };
  return { settings, plan, ports, exchange, upstreams, limits, telemetry, ...seen };
}

/** One request over a real connection, which stays open without a response. */
async function receive(
  stack: AsyncDisposableStack,
  sample: BenchRequest,
): Promise<{ raw: IncomingMessage; res: ServerResponse }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const received = new Promise<{ raw: IncomingMessage; res: ServerResponse }>((resolve) => {
    server.once('request', (raw, res) => resolve({ raw, res }));
  });
  const client = request({
    ...{ host: '127.0.0.1', port: portOf(server.address()), path: sample.path },
    headers: requestHeaders(sample),
  });
  // The server closes the connection at the end.
  client.once('error', () => undefined);
  client.end();
  return received;
}

function raise(error: unknown): never {
  throw error;
}
