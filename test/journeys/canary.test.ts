// No client and no service gets octets of another request: under reloads, slow readers, disconnects and cuts.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyBehind } from '../differential/messages.ts';
import { FUZZ_TIMEOUT_MS } from '../support/fuzz.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import {
  filledWith,
  HOWS,
  type How,
  type MarkedService,
  startMarkedService,
} from '../support/marked-service.ts';
import { readAnswers } from '../support/raw-answers.ts';
import { openSocket } from '../support/raw-client.ts';

const CLIENTS = 24;
/** Of each client. Some are sent together. */
const REQUESTS = 30;
const USUAL_OCTETS = 100_000;
/** More than the system buffers for a client that does not read. */
const LARGE_OCTETS = 5_000_000;
const PAUSE_TURNS = 60;

const config = `
public: https://api.example.com
listeners:
  https: { address: "127.0.0.1:0" }
  http: { address: "127.0.0.1:0", mode: serve }
  admin: { address: "127.0.0.1:0" }
store: "\${env:STORE}"
data: "\${env:DATA}"
guard: off
overload: off
policies: "\${env:POLICIES}"
`;
/** Each edition sets another field in both directions. Every second one opens its own connections. */
const policy = (edition: number): string => `
api: echo
base: /echo
access: public
headers: { request: { set: { X-Edition: e${edition} } }, response: { set: { X-Edition: e${edition} } } }
upstreams: { any: { targets: ["\${env:SERVICE}"], timeout: { idle: ${30 + (edition >> 1)}s } } }
versions: none
`;
/** Responses are buffered for their notice. Those to a POST are kept for the next one with the same key. */
const HELD = `
api: held
base: /held
resolve: [ { default: v1 } ]
access: public
idempotency: { methods: [POST], anonymous: address }
upstreams: { v1: { targets: ["\${env:SERVICE}"] } }
versions:
  v1: { released: 2024-06-01, deprecated: 2025-11-15, sunset: 2027-04-15, body_notice: true }
`;

const stack = new AsyncDisposableStack();
let service: MarkedService;
let gateway: RunningGateway;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-canary-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'gateway.yml'), config);
  await writeFile(join(folder, 'echo.yaml'), policy(0));
  await writeFile(join(folder, 'held.yaml'), HELD);
  service = stack.use(await startMarkedService());
  gateway = stack.use(
    await runGateway({
      reloadThread: true,
      config: join(folder, 'gateway.yml'),
      policies: folder,
      environment: { SERVICE: service.url },
    }),
  );
});
afterAll(() => stack.disposeAsync());

/** Returns a generator of numbers in 0 <= x < 1, the same ones for a seed. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Sent {
  readonly mark: string;
  readonly octets: number;
  readonly how: How;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly text: string;
}

/** One request, or the same request twice with an idempotency key. */
function drawRequests(draw: () => number, mark: string): readonly Sent[] {
  if (draw() >= 0.15) return [drawRequest(draw, mark)];
  const octets = Math.floor(draw() * USUAL_OCTETS);
  const lines = ['Host: api.example.com', `Idempotency-Key: "${mark}"`, 'Content-Length: 0', '', ''];
  const text = [`POST /held/${octets}/json/${mark} HTTP/1.1`, ...lines].join('\r\n');
  const one: Sent = { mark, octets, how: 'json', method: 'POST', text };
  return [one, one];
}

function drawRequest(draw: () => number, mark: string): Sent {
  const how = HOWS[Math.floor(draw() * HOWS.length)] ?? 'sized';
  const octets = draw() < 0.03 ? LARGE_OCTETS : Math.floor(draw() * USUAL_OCTETS);
  const body = filledWith(mark, Math.floor(draw() * 3_000));
  const method = draw() < 0.6 ? 'GET' : draw() < 0.2 ? 'HEAD' : 'POST';
  const head = `${method} /echo/${octets}/${how}/${mark} HTTP/1.1\r\nHost: api.example.com\r\nX-Mark: ${mark}\r\n`;
  const sized = `Content-Length: ${body.length}\r\n\r\n${body}`;
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const rest = method !== 'POST' || body === '' ? '\r\n' : draw() < 0.5 ? sized : chunked;
  return { mark, octets, how, method, text: head + rest };
}

const isOwn = (text: string, mark: string): boolean => text === filledWith(mark, text.length);
const fieldOf = (head: string, name: string): string | undefined =>
  new RegExp(`\r\n${name}: ([^\r]*)`, 'i').exec(head)?.[1];

/** Why `answer` is not the one to `sent`. Undefined if it is, as far as it was received. */
function fault({ mark, octets, how, method }: Sent, head: string, content: string, isWhole: boolean) {
  if (!head.startsWith('HTTP/1.1 200 ')) {
    // Nothing may have arrived of a HEAD that is cut.
    const mayFail = how === 'none' || (how.startsWith('cut') && method === 'HEAD');
    return mayFail && head.startsWith('HTTP/1.1 502 ') && !/[<>]/.test(content)
      ? undefined
      : 'another status';
  }
  if (fieldOf(head, 'x-mark') !== mark) return 'the head of another answer';
  if (how === 'json') {
    const isFull = !isWhole || JSON.parse(content).mark === filledWith(mark, octets);
    const isOnly = (content.match(/<[^>"]*>/g) ?? []).every((each) => each === mark);
    return isFull && isOnly ? undefined : 'octets of another held answer';
  }
  if (fieldOf(head, 'x-edition') !== fieldOf(head, 'x-request-edition')) return 'two policies';
  if (!isOwn(content, mark)) return 'octets of another answer';
  if (isWhole && method !== 'HEAD' && content.length !== octets) return 'not whole';
  return undefined;
}

interface Visited {
  readonly faults: readonly string[];
  readonly editions: ReadonlySet<string>;
}

/** Sends one to three requests at a time, reads at its own pace, disconnects at times. */
async function visit(
  port: number,
  tls: boolean,
  name: string,
  seed: number,
  onAnswer: () => void,
): Promise<Visited> {
  const draw = drawing(seed);
  const faults: string[] = [];
  const editions = new Set<string>();
  let socket: Socket | undefined;
  for (let count = 0; count < REQUESTS; ) {
    const group = Array.from({ length: 1 + Math.floor(draw() * 3) }, (_, at) =>
      drawRequests(draw, `<${name}-${count + at}>`),
    ).flat();
    count += group.length;
    socket ??= openSocket(port, { tls });
    const text = group.map((each) => each.text).join('');
    // Disconnects while it sends or while it reads.
    const leaves = draw() < 0.15;
    const isPart = leaves && draw() < 0.3;
    const place = Math.floor(draw() * text.length);
    socket.write(text.slice(0, place), 'latin1');
    await turn();
    await turn();
    if (!isPart) socket.write(text.slice(place), 'latin1');
    const most = leaves ? Math.floor(draw() * 50_000) : Number.POSITIVE_INFINITY;
    const pauses = draw() < 0.3;
    const reading = readAnswers(
      socket,
      group.map(({ method }) => method),
      most,
    );
    if (pauses) socket.pause();
    if (pauses || isPart) for (let left = PAUSE_TURNS; left > 0; left -= 1) await turn();
    if (pauses) socket.resume();
    if (isPart) socket.destroy();
    const { answers, rest, ended } = await reading;
    for (const [at, { head, content }] of answers.entries()) {
      onAnswer();
      const one = group[at];
      const why = one === undefined ? 'an answer too many' : fault(one, head, content, true);
      if (why !== undefined)
        faults.push(`${one?.text.split('\r\n', 1)}: ${why}: ${head}\n${content.slice(0, 200)}`);
      editions.add(fieldOf(head, 'x-edition') ?? '');
    }
    // The received part of the next one.
    const cut = group[answers.length];
    const end = rest.indexOf('\r\n\r\n');
    if (cut !== undefined && end >= 0) {
      const head = rest.slice(0, end);
      const { content } = bodyBehind(head, rest.slice(end + 4), cut.method === 'HEAD');
      const why = fault(cut, head, content, false);
      if (why !== undefined) faults.push(`${cut.text.split('\r\n', 1)}, cut: ${why}: ${rest.slice(0, 500)}`);
    }
    const mayBeCut = group.some(({ how }) => how.startsWith('cut') || how === 'early');
    if (answers.length < group.length && !leaves && !mayBeCut) faults.push(`${name}-${count}: no answer`);
    if (leaves || ended || answers.length < group.length) {
      if (!tls && draw() < 0.5) socket.resetAndDestroy();
      else socket.destroy();
      socket = undefined;
    }
  }
  socket?.destroy();
  return { faults, editions };
}

describe.each([false, true])('over TLS: %s', (tls) => {
  it('no response or request contains bytes of another one', { timeout: FUZZ_TIMEOUT_MS }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const answered = new EventTarget();
    const onAnswer = (): void => void answered.dispatchEvent(new Event('answer'));
    const port = tls ? gateway.https : gateway.http;
    const visits = Promise.all(
      Array.from({ length: CLIENTS }, (_, at) =>
        visit(port, tls, `${tls ? 's' : 'c'}${at}`, seed + at, onAnswer),
      ),
    );
    const over = visits.then(() => 'over');
    for (let edition = 1; (await Promise.race([once(answered, 'answer'), over])) !== 'over'; edition += 1) {
      await writeFile(join(folder, 'echo.yaml'), policy(edition));
      // The file watcher may have reloaded first.
      expect((await gateway.reload()).kind).not.toBe('rejected');
    }
    const visited = await visits;
    expect(visited.flatMap(({ faults }) => faults).slice(0, 3), `seed ${seed}`).toEqual([]);
    expect(service.foreign).toEqual([]);
    // The reloads happened between the requests.
    expect(new Set(visited.flatMap(({ editions }) => [...editions])).size).toBeGreaterThan(5);
  });
});
