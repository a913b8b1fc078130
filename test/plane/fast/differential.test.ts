// The general plane as the judge of the fast one: the same octets to both, from the client and from the upstream, each cut in
// two at a random place. Equal are what the upstream saw, what the client got, and what was observed.
// Left out is what a plane may do in its own way: `Connection` and `Keep-Alive`, Date, and the order of fields.
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PlaneName } from '../../../gateway/plan/bounds.ts';
import { FUZZ_TIMEOUT_MS, samples } from '../../support/fuzz.ts';
import { fieldLines, mutated } from '../../support/mutated-bytes.ts';
import { forEachTest } from '../gateway-pair.ts';
import type { GatewayUnderTest } from '../gateway-under-test.ts';
import type { RawRequest } from '../raw-sockets.ts';

const { pair } = forEachTest();

const CASES = 6_000;
const AT_ONCE = 40;
/** Milliseconds without another octet: nothing more will come. */
const QUIET_MS = 120;

interface Case {
  readonly request: string;
  readonly answer: string;
  readonly cut: number;
  readonly answerCut: number;
}

const BODIES = [
  '',
  'Content-Length: 5\r\n\r\nhello',
  'Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n',
  'Connection: close\r\n\r\n',
  'Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
] as const;
const request = fc
  .record({
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
    target: fc.constantFrom('', '/a%2Fb;c', '?x=1&x=%2f', '/%7Euser', '?'),
    lines: fieldLines,
    body: fc.constantFrom(...BODIES),
  })
  .map(({ method, target, lines, body }) =>
    [
      `${method} /echo${target} HTTP/1.1`,
      'Host: api.example.com',
      ...lines,
      body === '' ? '\r\n' : body,
    ].join('\r\n'),
  );
const answer = fc
  .record({
    status: fc.constantFrom(
      '200 OK',
      '204 No Content',
      '205 Reset',
      '304 Not Modified',
      '404 Nope',
      '503 Busy',
    ),
    interim: fc.constantFrom('', 'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n'),
    lines: fieldLines,
    body: fc.constantFrom(
      'Content-Length: 5\r\n\r\nhello',
      'Content-Length: 0\r\n\r\n',
      'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x\r\nyou\r\n0\r\nX-T: 1\r\n\r\n',
      'Connection: close\r\nContent-Length: 2\r\n\r\nok',
    ),
  })
  .map(({ status, interim, lines, body }) => [`${interim}HTTP/1.1 ${status}`, ...lines, body].join('\r\n'));
const drawn: fc.Arbitrary<Case> = fc.record({
  request: fc.oneof(request, mutated(request, 2)),
  answer: fc.oneof(answer, mutated(answer, 2)),
  cut: fc.nat(),
  answerCut: fc.nat(),
});

interface Seen {
  readonly answers: readonly unknown[];
  readonly upstream: readonly unknown[];
  readonly observed: readonly unknown[];
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const OWN_WAY: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'date']);

/** Status or request line, and the fields in the order of their names. */
function headOf(text: string): readonly string[] {
  const [start = '', ...lines] = text.split('\r\n');
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const kept = fields.filter(([name]) => !OWN_WAY.has(name)).map((field) => field.join(': '));
  return [start, ...kept.toSorted()].map((line) =>
    line.replaceAll(UUID, 'uuid').replace(/^host: 127.*/, 'host: the upstream'),
  );
}

/** Heads and content of all answers in `text`, as far as they go. */
function answersIn(text: string, method: string): readonly unknown[] {
  const found: unknown[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return [...found, rest];
    const head = rest.slice(0, end);
    rest = rest.slice(end + 4);
    const { content, octets } = contentOf(head, rest, method);
    found.push([headOf(head), content]);
    rest = rest.slice(octets);
  }
  return found;
}

function contentOf(head: string, rest: string, method: string): { content: string; octets: number } {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (method === 'HEAD' || /^HTTP\/1\.1 (?:1|204|304)/.test(head)) return { content: '', octets: 0 };
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) {
    const octets = Number(length ?? 0);
    return { content: rest.slice(0, octets), octets };
  }
  let content = '';
  let at = 0;
  for (;;) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return { content: `${content} (cut)`, octets: rest.length };
    const size = Number.parseInt(rest.slice(at, line), 16);
    at = line + 4 + size;
    if (size === 0) return { content, octets: at };
    content += rest.slice(line + 2, line + 2 + size);
  }
}

/** The body that a service makes of what it got. */
function bodyOf({ head, body, complete }: RawRequest): string {
  if (!/\r\ntransfer-encoding/i.test(head)) return complete ? body : `${body} (cut)`;
  return contentOf('\r\ntransfer-encoding: chunked', body, 'POST').content;
}

async function send({ port }: GatewayUnderTest, { request: text, cut }: Case): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let got = '';
  const socket = connect(port, '127.0.0.1');
  const quiet = setTimeout(resolve, 4 * QUIET_MS);
  socket.setNoDelay(true);
  socket.on('error', () => resolve());
  socket.on('close', () => resolve());
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1');
    clearTimeout(quiet);
    setTimeout(resolve, QUIET_MS);
  });
  const place = cut % (text.length + 1);
  socket.write(text.slice(0, place), 'latin1', () =>
    setImmediate(() => socket.writable && socket.write(text.slice(place), 'latin1')),
  );
  await promise;
  clearTimeout(quiet);
  socket.destroy();
  return got;
}

/** One plane with an upstream of its own, asked case by case. */
async function openLane(plane: PlaneName): Promise<(one: Case) => Promise<Seen>> {
  let current: Case | undefined;
  const give = (sent: RawRequest): undefined => {
    if (!sent.complete || current === undefined) return undefined;
    const { answer: text, answerCut } = current;
    const place = answerCut % (text.length + 1);
    sent.socket.write(text.slice(0, place), 'latin1', () =>
      setImmediate(() => {
        if (sent.socket.writable) sent.socket.end(text.slice(place), 'latin1');
      }),
    );
    return undefined;
  };
  const { gateway, upstream } = await pair(give, { plane, trustedProxies: ['127.0.0.1'] }, give);
  return async (one) => {
    current = one;
    const text = await send(gateway, one);
    // Of a client that has left the end is observed a little later.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const method = one.request.slice(0, one.request.indexOf(' '));
    return {
      answers: answersIn(text, method),
      upstream: upstream.requests.splice(0).map((sent) => [headOf(sent.head), bodyOf(sent)]),
      observed: gateway.outcomes.splice(0).map(({ clientAddress, clientNetwork, userAgent, ...rest }) => ({
        ...rest,
        clientAddress,
        clientNetwork,
        userAgent,
      })),
    };
  };
}

/** What the planes do in their own ways, and why that is right. */
function mayDiffer({ request: sent, answer: given }: Case): boolean {
  const [first = '', ...others] = given.split('\r\n\r\n');
  const isInterim = first.startsWith('HTTP/1.1 103');
  return (
    // undici reads the fields of an answer as UTF-8, and what was none can then not be written.
    /[\x80-\xff]/.test(given) ||
    // Node joins the lines of a field that only requests have.
    /\r\ncookie: .*\r\ncookie: /is.test(given) ||
    // undici takes the fields of an interim answer for those of the final one.
    (isInterim && /\r\n(?:connection|content-length|transfer-encoding):/i.test(first)) ||
    // It takes any octet for a part of a reason, and lets line ends stand before an answer.
    /^HTTP\/1\.1 .*[^\t\r\n\x20-\x7e]/m.test(given) ||
    /^[\r\n]|\r\n\r\n[\r\n]/.test(given) ||
    // It takes no offence at a framing in trailers.
    /\r\n0\r\n(?:.*\r\n)*(?:content-length|transfer-encoding):/i.test(given) ||
    // A blank behind a length stays a part of it there.
    /\r\ncontent-length:[^\r]*\d[ \t]+\r\n/i.test(given) ||
    // An answer that ends within its head: how much of its last line is judged.
    others.length <= (isInterim ? 1 : 0) ||
    // More than one request, octets behind a request, or a malformed chunk: how much the gateway still reads from a client that
    // does not wait for answers depends on timing.
    !isOneRequest(sent)
  );
}

function isOneRequest(sent: string): boolean {
  const end = sent.indexOf('\r\n\r\n');
  const [head, body] = [sent.slice(0, end + 2), sent.slice(end + 4)];
  if (/\r\ntransfer-encoding:/i.test(head)) return BODIES[2].endsWith(`\r\n\r\n${body}`) && body !== '';
  if (/\r\ncontent-length: 5\r\n/i.test(head)) return body === 'hello';
  return body === '';
}

it('both planes do the same with the same octets', { timeout: 4 * FUZZ_TIMEOUT_MS }, async () => {
  const { seed, drawn: cases } = samples(drawn, CASES);
  const wanted = cases.filter((one) => !mayDiffer(one));
  const different: unknown[] = [];
  const lanes = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => [await openLane('general'), await openLane('fast')] as const),
  );
  let next = 0;
  const work = async ([general, fast]: (typeof lanes)[number]): Promise<void> => {
    for (let one = wanted[next++]; one !== undefined; one = wanted[next++]) {
      const [expected, found] = await Promise.all([general(one), fast(one)]);
      if (JSON.stringify(expected) !== JSON.stringify(found)) different.push({ one, expected, found });
    }
  };
  await Promise.all(lanes.map(work));
  expect(wanted.length).toBeGreaterThan(cases.length / 2);
  expect(different, `seed ${seed}: ${different.length} of ${wanted.length}`).toEqual([]);
});
