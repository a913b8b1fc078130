// Tests of batching: calls share transactions, and fail together if the disk hangs.
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createBatches } from '../../gateway/stores/embedded/database.ts';

const PATIENT = { answerWithinMs: 60_000 };
const away = { code: 'store_unavailable' };

/** Runs each batch when the test calls `done` or `fail`. */
function byHand() {
  const batches: { calls: readonly string[]; done: () => void; fail: (error: unknown) => void }[] = [];
  const run = (calls: readonly string[]): Promise<readonly unknown[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    batches.push({ calls, done: () => resolve(calls.map((call) => `${call}!`)), fail: reject });
    return promise;
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { batches, run, turn };
}

describe('batches', () => {
  it('combine calls of one event loop turn, and calls made while another batch runs', async () => {
    const { batches, run, turn } = byHand();
    const { add } = createBatches(run, PATIENT);
    const first = ['a', 'b'].map(add);
    await turn();
    const second = ['c', 'd', 'e'].map(add);
    await turn();
    expect(batches.map(({ calls }) => calls)).toEqual([['a', 'b']]);
    batches[0]?.done();
    expect(await Promise.all(first)).toEqual(['a!', 'b!']);
    await turn();
    expect(batches.map(({ calls }) => calls)).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
    batches[1]?.done();
    expect(await Promise.all(second)).toEqual(['c!', 'd!', 'e!']);
  });

  it('that fail reject only their own calls', async () => {
    const { batches, run, turn } = byHand();
    const { add } = createBatches(run, PATIENT);
    const first = Promise.allSettled(['a', 'b'].map(add));
    await turn();
    const second = add('c');
    batches[0]?.fail(new RangeError('full'));
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await turn();
    batches[1]?.done();
    expect(await second).toBe('c!');
  });

  it('that hang are rejected, and so are new calls until the disk answers', async () => {
    const { batches, run, turn } = byHand();
    const { add, settled } = createBatches(run, { answerWithinMs: 5 });
    const under = add('a');
    await turn();
    const waiting = add('b');
    await expect(under).rejects.toMatchObject(away);
    await expect(waiting).rejects.toMatchObject(away);
    await expect(add('c')).rejects.toMatchObject(away);
    batches[0]?.done();
    await settled();
    const again = add('d');
    await turn();
    batches[1]?.done();
    expect(await again).toBe('d!');
    expect(batches.map(({ calls }) => calls)).toEqual([['a'], ['d']]);
  });

  it('are not rejected if the answer came in time while this process was busy', async () => {
    const { port1: thread, port2: here } = new MessageChannel();
    const { add, settled } = createBatches(
      () => new Promise<readonly unknown[]>((resolve) => here.once('message', resolve)),
      { answerWithinMs: 5 },
    );
    const answer = add('a');
    await new Promise<void>((resolve) =>
      setImmediate(() => {
        thread.postMessage(['a!']);
        const until = performance.now() + 20;
        while (performance.now() < until);
        resolve();
      }),
    );
    expect(await answer).toBe('a!');
    await settled();
    thread.postMessage(['b!']);
    expect(await add('b')).toBe('b!');
    here.close();
  });

  it('are settled when no call runs or waits', async () => {
    const { batches, run, turn } = byHand();
    const { add, settled } = createBatches(run, PATIENT);
    await settled();
    const all = Promise.all([add('a'), turn().then(() => add('b'))]);
    await turn();
    let isSettled = false;
    const end = settled().then(() => {
      isSettled = true;
    });
    batches[0]?.done();
    await turn();
    expect(isSettled).toBe(false);
    batches[1]?.done();
    await end;
    expect(await all).toEqual(['a!', 'b!']);
  });
});
