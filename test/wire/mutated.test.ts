// Mutated messages through a whole gateway: the upstream and the client get only valid messages.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { FUZZ_TIMEOUT_MS, samples } from '../support/fuzz.ts';
import { fieldLines, mutated } from '../support/mutated-bytes.ts';
import { type Answer, finalAnswers } from './answers.ts';
import { converse } from './client.ts';
import { holds, valuesOf } from './field-lines.ts';
import { MARK, universalFaults } from './judge/verdict.ts';
import { HOST, type OurGateway, PREFIX, startOurGateway } from './our-gateway.ts';
import { type RecordedRequest, readRequest } from './recorded-request.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { inParallel } from './run-cases.ts';
import { chunks } from './spot.ts';
import { says } from './wire-case.ts';

const CASES = 140;
/** Incomplete messages are awaited in parallel. */
const AT_ONCE = 48;
const PATIENCE_MS = 1_000;
/** A response always comes, but late on a busy machine. */
const ANSWER_MS = 25_000;

interface Judged {
  readonly request_id: string;
  readonly method: string;
  readonly path: string;
}

const judged: Judged[] = [];
const stack = new AsyncDisposableStack();
let recorder: Recorder;
let gateway: OurGateway;
let count = 0;

vi.setConfig({ testTimeout: FUZZ_TIMEOUT_MS });

beforeAll(async () => {
  recorder = stack.use(await startRecorder());
  gateway = stack.use(
    await startOurGateway(recorder.port, (text) => {
      const lines = text.split('\n').filter((line) => line.includes(',"log":"access",'));
      judged.push(...lines.map((line) => JSON.parse(line)));
    }),
  );
});
afterAll(() => stack.disposeAsync());

/** Field lines, the empty line, and a body with `inner`, which looks like a message. */
const framed = (inner: string) =>
  fc
    .tuple(fieldLines, fc.constantFrom('none', 'length', 'chunks'))
    .map(([lines, body]): readonly string[] => {
      if (body === 'none') return [...lines, '', ''];
      if (body === 'length') return [...lines, `Content-Length: ${inner.length}`, '', inner];
      return [...lines, 'Transfer-Encoding: chunked', '', chunks(inner)];
    });

/** TAG marks the place of the tag in the path. */
const requests = mutated(
  fc
    .tuple(
      fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
      fc.constantFrom('', '?x=1', '?x=%0d%0a&&y=/../'),
      framed(`GET ${PREFIX}/canary/TAG HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`),
    )
    .map(([method, search, rest]) =>
      [`${method} ${PREFIX}/c/TAG${search} HTTP/1.1`, `Host: ${HOST}`, ...rest].join('\r\n'),
    ),
);

const STATUSES = ['200 OK', '201 Created', '204 No Content', '304 Not Modified', '503 Busy', '101 Switching'];
const answers = mutated(
  fc
    .tuple(
      fc.constantFrom(...STATUSES),
      framed('HTTP/1.1 200 OK\r\nX-Canary: 1\r\nContent-Length: 0\r\n\r\n'),
    )
    .map(([status, rest]) => [`HTTP/1.1 ${status}`, 'X-Upstream: suite', ...rest].join('\r\n')),
);

function nextTag(): string {
  count += 1;
  return `t_mutated${count}x`;
}

async function send(bytes: string, method: string, patienceMs: number): Promise<readonly Answer[]> {
  const sending = { pieces: [bytes], methods: [method], answers: 1, patienceMs };
  return (await converse(gateway.plain.address, sending)).answers;
}

/** The number of requests that a strict parser finds. The last may be incomplete. */
function requestsIn(bytes: string): number {
  let rest = bytes;
  let found = 0;
  for (let read = readRequest(rest); read !== undefined; read = readRequest(rest)) {
    found += 1;
    if (!read.request.complete) break;
    rest = rest.slice(read.used);
  }
  return found;
}

/** Requests at the upstream without a line in the access log. Each line stands for one request. */
function unjudged(seen: readonly RecordedRequest[]): readonly string[] {
  const lines = [...judged];
  return seen.flatMap(({ method, target, fields, head }) => {
    const [path] = target.split('?', 1);
    const [id] = valuesOf(fields, 'x-request-id');
    const at = lines.findIndex(
      (line) => line.request_id === id && line.method === method && line.path === path,
    );
    return at >= 0 && lines.splice(at, 1).length > 0 ? [] : [head];
  });
}

it('SMG: the upstream gets only valid, logged requests that the client sent', async () => {
  const { seed, drawn } = samples(requests, CASES);
  const found: string[] = [];
  await inParallel(
    drawn.map((text) => async () => {
      const tag = nextTag();
      const bytes = text.replaceAll('TAG', tag);
      const received = await send(bytes, bytes.split(' ', 1)[0] ?? 'GET', PATIENCE_MS);
      const upstream = recorder.requestsOf(tag);
      const faults = universalFaults({ answers: received, upstream, tunnelled: '', worksAfterwards: true });
      if (upstream.length > requestsIn(bytes)) faults.push('more requests than there are');
      if (faults.length > 0) found.push(`${JSON.stringify(bytes)}: ${faults.join(', ')}`);
    }),
    AT_ONCE,
  );
  expect(found, `seed ${seed}`).toEqual([]);
  // The access log has a line once its request has ended, which may be after the response.
  const all = recorder.requestsBeside([]);
  await vi.waitFor(() => expect(unjudged(all), `seed ${seed}`).toEqual([]), { timeout: 20_000 });
  // Most draws must get this far, or the test proves little.
  expect(all.length).toBeGreaterThan(drawn.length / 10);
});

it('the client gets one valid response without internal details', async () => {
  const { seed, drawn } = samples(answers, CASES);
  const found: string[] = [];
  let passed = 0;
  await inParallel(
    drawn.map((text) => async () => {
      const tag = nextTag();
      recorder.script(tag, says(text, { end: 'fin' }));
      const received = await send(
        `GET ${PREFIX}/c/${tag} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
        'GET',
        ANSWER_MS,
      );
      const faults = universalFaults({
        answers: received,
        upstream: [],
        tunnelled: '',
        worksAfterwards: true,
      });
      if (finalAnswers(received).length !== 1) faults.push(`${received.length} answers`);
      if (received.some(({ fields }) => holds(fields, ['x-canary'])))
        faults.push('a body that was an answer');
      if (received.some(({ status }) => status < 200)) faults.push('an answer of another protocol');
      if (received.some(({ fields }) => holds(fields, MARK))) passed += 1;
      if (faults.length > 0) found.push(`${JSON.stringify(text)}: ${faults.join(', ')}`);
    }),
    AT_ONCE,
  );
  expect(found, `seed ${seed}`).toEqual([]);
  expect(passed).toBeGreaterThan(drawn.length / 10);
});
