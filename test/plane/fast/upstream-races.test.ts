// An upstream that ends or resets an idle connection while a request is about to use it, on both planes.
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PLANES, type PlaneName } from '../../../gateway/plan/bounds.ts';
import { forEachTest } from '../gateway-pair.ts';
import { get, openRaw, type RawRequest, until } from '../raw-sockets.ts';

const { defer, pair } = forEachTest();

const ROUNDS = 5;
const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const answerTo = (path: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`;

interface Kind {
  readonly name: string;
  readonly request: (path: string) => string;
}

const KINDS: readonly Kind[] = [
  { name: 'a GET', request: (path) => get(path) },
  { name: 'a DELETE', request: (path) => get(path, [], 'DELETE') },
  { name: 'an empty POST', request: (path) => get(path, ['Content-Length: 0'], 'POST') },
  { name: 'a sized POST', request: (path) => get(path, ['Content-Length: 2'], 'POST', 'hi') },
  {
    name: 'a chunked POST',
    request: (path) => get(path, ['Transfer-Encoding: chunked'], 'POST', '2\r\nhi\r\n0\r\n\r\n'),
  },
  { name: 'a sized PUT', request: (path) => get(path, ['Content-Length: 2'], 'PUT', 'hi') },
];

type End = (socket: Socket) => void;
const WAYS: readonly (readonly [name: string, way: End])[] = [
  ['ends', (socket) => void socket.end()],
  ['resets', (socket) => void socket.resetAndDestroy()],
];
/** When the upstream acts: before the client sends, after it in the same turn, or one turn later. */
const TIMES = ['before', 'with', 'a turn after'] as const;
type Time = (typeof TIMES)[number];

interface Race {
  readonly plane: PlaneName;
  readonly request: Kind['request'];
  readonly way: End;
  readonly time: Time;
}

interface Raced {
  /** One per round. */
  readonly statuses: readonly number[];
  /** How often the upstream received the request of each round. */
  readonly tries: readonly number[];
}

async function race({ plane, request, way, time }: Race): Promise<Raced> {
  const answer = (each: RawRequest) => (each.complete ? answerTo(pathOf(each)) : undefined);
  const { upstream, gateway } = await pair(answer, { plane }, answer);
  const client = await openRaw(gateway.port);
  defer(async () => void client.socket.destroy());
  const statuses: number[] = [];
  const tries: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first, next] = [`/echo/first-${round}`, `/echo/next-${round}`];
    client.text = '';
    client.socket.write(get(first));
    await until(() => client.text.endsWith(first));
    // A connection is reused only after some turns.
    for (let turns = 0; turns < 5; turns += 1) await turn();
    const idle = upstream.requests.at(-1)?.socket;
    if (idle === undefined) throw new Error('the upstream has got a request');
    client.text = '';
    if (time === 'before') way(idle);
    client.socket.write(request(next));
    if (time === 'a turn after') await turn();
    if (time !== 'before') way(idle);
    await until(() => client.text.endsWith(next) || client.text.endsWith('"}'));
    statuses.push(Number(client.text.slice('HTTP/1.1 '.length, 12)));
    tries.push(upstream.requests.filter((each) => pathOf(each) === next).length);
  }
  return { statuses, tries };
}

const inEachRound = <T>(value: T): readonly T[] => Array.from({ length: ROUNDS }, () => value);

describe.each(PLANES)('FWD-16: on the %s plane an upstream', (plane) => {
  describe.each(WAYS)('%s an idle connection', (_name, way) => {
    describe.each(['before', 'with'] as const)('%s', (time) => {
      it.each(KINDS)('$name: the upstream gets it once, on another connection', async ({ request }) => {
        const raced = await race({ plane, request, way, time });
        expect(raced).toEqual({ statuses: inEachRound(200), tries: inEachRound(1) });
      });
    });

    it('a turn after a GET: the GET is retried', async () => {
      const { statuses } = await race({ plane, request: (path) => get(path), way, time: 'a turn after' });
      expect(statuses).toEqual(inEachRound(200));
    });

    it.each(KINDS.slice(2))('a turn after $name: the upstream gets it at most once', async ({ request }) => {
      const { statuses, tries } = await race({ plane, request, way, time: 'a turn after' });
      expect(Math.max(...tries)).toBeLessThanOrEqual(1);
      for (const [round, status] of statuses.entries())
        expect(status).toEqual(expect.toBeOneOf(tries[round] === 1 ? [200, 502] : [502]));
    });
  });
});
