// The lifecycle clock passes each boundary of a version under load: no response mixes both sides or goes back.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const clients: Client[] = [];
let gateway: RunningGateway;
let now = Date.UTC(2024, 0, 1);

beforeAll(async () => {
  const upstream = stack.use(
    await startRawUpstream(
      (_target, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    ),
  );
  gateway = stack.use(
    await runGateway({
      policies: 'boundaries',
      lifecycleNow: () => now,
      environment: { UPSTREAM: upstream.url },
    }),
  );
  clients.push(stack.use(overHttp1(gateway.https)), stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

/** All parts of a response that depend on the instant, in one line. */
function told(answer: Answer): string {
  const { status, headers } = answer;
  return [
    status,
    headers['x-api-lifecycle-stage'] ?? '-',
    headers.deprecation ?? '-',
    headers.sunset ?? '-',
    headers.warning === undefined ? '-' : 'warned',
    headers['x-ratelimit-limit'] ?? '-',
    status === 200 ? '-' : String(answer.json.message),
  ].join(' ');
}

const SIGNALS = '@1768435200 Fri, 15 Jan 2027 00:00:00 GMT';
const ACTIVE = '200 active - - - 100000 -';
const DEPRECATED = `200 deprecated ${SIGNALS} warned 50000 -`;
const UNKNOWN = '404 - - - - - There is no such version: "v1" in the path. Versions: v2.';
const BROWNOUT = `410 deprecated ${SIGNALS} warned - API version v1 is in an announced brownout until 2026-12-08T14:15:00Z, and will be removed on 2027-01-15.`;
const PAST_SUNSET = `410 sunset ${SIGNALS} - - API version v1 reached its sunset on 2027-01-15.`;
const RETIRED = `410 retired ${SIGNALS} - - API version v1 was retired on 2027-07-15.`;

const OF_OPERATION = '@1759276800 Tue, 15 Dec 2026 00:00:00 GMT';
const OPERATION = `200 deprecated ${OF_OPERATION} warned 50000 -`;
const MOVED = `301 retired ${OF_OPERATION} - - GET /old/{id} of API version v1 was retired on 2026-12-15.`;
const OLD = '/api/v1/orders/old/7';
const ANY = '/api/v1/orders/7';

const BOUNDARIES: readonly (readonly [
  name: string,
  at: number,
  before: string,
  after: string,
  path: string,
])[] = [
  ['its release', Date.UTC(2024, 5, 1), UNKNOWN, ACTIVE, ANY],
  ['the deprecation of an operation', Date.UTC(2025, 9, 1), ACTIVE, OPERATION, OLD],
  ['its deprecation', Date.UTC(2026, 0, 15), ACTIVE, DEPRECATED, ANY],
  ['the begin of a brownout', Date.UTC(2026, 11, 8, 14), DEPRECATED, BROWNOUT, ANY],
  ['the end of a brownout', Date.UTC(2026, 11, 8, 14, 15), BROWNOUT, DEPRECATED, ANY],
  ['the sunset of an operation', Date.UTC(2026, 11, 15), OPERATION, MOVED, OLD],
  ['its sunset', Date.UTC(2027, 0, 15), DEPRECATED, PAST_SUNSET, ANY],
  ['its retirement', Date.UTC(2027, 6, 15), PAST_SUNSET, RETIRED, ANY],
  ['being forgotten', Date.UTC(2028, 0, 15), RETIRED, UNKNOWN, ANY],
];
const CALLERS = 24;

describe('under load, without a reload, a version crosses', () => {
  it.each(BOUNDARIES)('%s in its millisecond', async (_name, at, before, after, path) => {
    now = at - 1;
    let isOver = false;
    const counts = { before: 0, after: 0 };
    const caller = async (client: Client): Promise<void> => {
      let crossed = false;
      while (!isOver) {
        const sent = now;
        const answer = told(await client.ask({ path }));
        const received = now;
        // The arrival of the first line decides. It lies between sending and receiving.
        if (received < at) expect(answer).toBe(before);
        else if (sent >= at) expect(answer).toBe(after);
        else expect([before, after]).toContain(answer);
        if (crossed) expect(answer).toBe(after);
        crossed ||= answer === after;
        counts[crossed ? 'after' : 'before'] += 1;
      }
    };
    const calling = Promise.all(
      Array.from({ length: CALLERS }, (_, index) => caller(clients[index % 2] as Client)),
    );
    const enough = async (side: 'before' | 'after'): Promise<void> => {
      const seen = () => expect(counts[side]).toBeGreaterThan(3 * CALLERS);
      await Promise.race([vi.waitFor(seen, { timeout: 20_000, interval: 2 }), calling]);
    };
    try {
      await enough('before');
      expect(counts.after).toBe(0);
      now = at;
      await enough('after');
    } finally {
      isOver = true;
    }
    await calling;
  });

  it('every boundary without a reload', async () => {
    expect(await gateway.metric('sundial_config_reloads_total{result="success"}')).toBe(0);
  });
});
