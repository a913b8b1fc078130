// Via in both directions over real sockets, and the bound on loops.
import { describe, expect, it } from 'vitest';
import { countOwnHops } from '../../gateway/upstream/request-headers.ts';
import { forEachTest } from '../plane/gateway-pair.ts';
import { get, sendRaw } from '../plane/raw-sockets.ts';

const { pair: pairOf } = forEachTest();
const pair = (lines: readonly string[] = []) => {
  const head = ['HTTP/1.1 200 OK', 'Content-Length: 2', ...lines];
  return pairOf(() => `${head.join('\r\n')}\r\n\r\nok`);
};

const viaOf = (text: string): readonly (string | undefined)[] =>
  [...text.matchAll(/\r\nvia: (.*)\r\n/gi)].map((match) => match[1]);

describe('Via of a response', () => {
  it.each([
    ['names this gateway', [], '1.1 sundial'],
    [
      'keeps the hops before this gateway',
      ['Via: 1.0 fred', 'Via: 1.1 p (x, y)'],
      '1.0 fred, 1.1 p (x, y), 1.1 sundial',
    ],
    [
      'names this gateway even if the upstream lists Via in Connection',
      ['Connection: Via', 'Via: 1.0 fred'],
      '1.1 sundial',
    ],
  ])('FWD-6: %s', async (_title, lines, via) => {
    const { gateway } = await pair(lines);
    expect(viaOf((await sendRaw(gateway.port, get())).text)).toEqual([via]);
  });
});

describe('a request that passed this gateway before', () => {
  const hops = (count: number): string => `Via: ${Array(count).fill('1.1 sundial').join(', ')}`;

  it('FWD-7: three times is forwarded', async () => {
    const { gateway, upstream } = await pair();
    expect((await sendRaw(gateway.port, get('/echo', [hops(3)]))).statuses).toEqual([200]);
    expect(upstream.requests[0]?.head).toContain(`\r\nvia: ${hops(4).slice(5)}\r\n`);
  });

  it('FWD-7: more than three times is refused as a loop', async () => {
    const { gateway, upstream } = await pair();
    const { statuses } = await sendRaw(gateway.port, get('/echo', [hops(2), 'Via: 1.0 fred', hops(2)]));
    expect(statuses).toEqual([502]);
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_loop');
    expect(upstream.requests).toHaveLength(0);
  });

  it('FWD-7: more than three times is refused even if Connection lists Via', async () => {
    const { gateway } = await pair();
    const { statuses } = await sendRaw(gateway.port, get('/echo', ['Connection: via', hops(4)]));
    expect(statuses).toEqual([502]);
  });

  it.each([
    [undefined, 0],
    ['1.1 sundial', 1],
    ['1.0 fred,HTTP/2.0 \t sundial (edge), 2.0 SUNDIAL', 2],
    ['1.1 sundial-edge, 1.1 my.sundial, sundial', 0],
  ])('counts only its own name in %j', (via, count) => {
    expect(countOwnHops(via)).toBe(count);
  });

  it.each(['1.1 ', ',', ' ', '1.1 sundia', '('])('counts in linear time: %j', (piece) => {
    // The minimum of many short runs, because a busy machine distorts single runs.
    const work = (count: number): number => {
      const text = piece.repeat(count);
      const rounds = Array.from({ length: 40 }, () => {
        const before = performance.now();
        countOwnHops(text);
        return performance.now() - before;
      });
      return Math.min(...rounds);
    };
    work(16_000);
    // For 16 times the length, linear work is 16-fold and quadratic work 256-fold.
    expect(work(64_000) / work(4_000)).toBeLessThan(64);
  });
});
