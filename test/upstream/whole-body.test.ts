// Reading a complete request body: held bytes, no lost bytes, and the replay of a stored response.
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { ForwardOrder } from '../../gateway/exchange/directive.ts';
import type { Inbound } from '../../gateway/plane/port.ts';
import { replayAnswer } from '../../gateway/upstream/bodies/replay.ts';
import { readWhole } from '../../gateway/upstream/bodies/whole-body.ts';
import { deprecatedFacts, view } from '../support/exchange-samples.ts';

function sending({ hasBody = true, isPadded }: Partial<Pick<Inbound, 'hasBody' | 'isPadded'>> = {}) {
  const body = new PassThrough();
  const client = new EventEmitter();
  const inbound: Inbound = {
    ...{ view: view(), httpVersion: '1.1', forwardedFor: '', forwardedHost: '', forwarded: undefined },
    ...{ hasBody, body, endedWhole: () => true, isPadded, bytes: 0, gone: false, onGone: undefined },
    onClosed: (listener) => void client.once('close', listener),
  };
  return { body, inbound, client };
}
const memoryFor = (most: number) => ({ held: 0, most });

describe('reading a complete body', () => {
  it('returns the bytes as received, which count as held until they are freed', async () => {
    const { body, inbound } = sending();
    const memory = memoryFor(1_000);
    const reading = readWhole(inbound, 10, memory);
    for (const chunk of ['ab', '', 'cde', 'fghij']) body.write(chunk);
    body.end();
    const read = await reading;
    expect(read.kind === 'whole' && read.bytes.toString()).toBe('abcdefghij');
    expect(memory.held).toBeGreaterThanOrEqual(10);
    if (read.kind === 'whole') read.free();
    expect(memory.held).toBe(0);
    expect(inbound.onGone).toBeUndefined();
  });

  it('ends at once if the request has no body', async () => {
    expect(await readWhole(sending({ hasBody: false }).inbound, 10, memoryFor(0))).toMatchObject({
      kind: 'whole',
    });
  });

  it.each([
    ['over', 4, 1_000],
    ['full', 1_000, 4],
  ])('beyond a limit puts every byte back into the request: %s', async (kind, most, memory) => {
    const { body, inbound } = sending();
    const held = memoryFor(memory);
    const reading = readWhole(inbound, most, held);
    for (const chunk of ['ab', 'cd', 'ef', 'gh']) body.write(chunk);
    body.end();
    expect(await reading).toEqual({ kind });
    expect(held.held).toBe(0);
    expect(String(await buffer(body))).toBe('abcdefgh');
  });

  it('SMG-12: refuses a body with more framing than content', async () => {
    const { body, inbound } = sending({ isPadded: () => true });
    const memory = memoryFor(1_000);
    const reading = readWhole(inbound, 10, memory);
    body.write('a');
    expect(await reading).toMatchObject({ kind: 'refused', refusal: { status: 413 } });
    expect(memory.held).toBe(0);
  });

  it.each([
    ['its client disconnects', (inbound: Inbound) => inbound.onGone?.()],
    ['it ends early', (inbound: Inbound) => void Object.assign(inbound, { endedWhole: () => false })],
  ])('is broken if %s', async (_what, happens) => {
    const { body, inbound } = sending();
    const memory = memoryFor(1_000);
    const reading = readWhole(inbound, 10, memory);
    body.write('a');
    happens(inbound);
    body.end();
    expect(await reading).toEqual({ kind: 'broken' });
    expect(memory.held).toBe(0);
  });
});

describe('a replayed response', () => {
  const BODY = Buffer.from('kept');
  const NO_MEMORY = { reason: 'idempotency_unavailable', retryAfterSeconds: 1, restoredAt: 0 } as const;

  /** The result for a request with `body`, and the bytes held until its client has read the response. */
  async function given(body: string, memory: ReturnType<typeof memoryFor>, isSame = true) {
    const { body: stream, inbound, client } = sending();
    const taken = (): void => undefined;
    const replay = replayAnswer(
      inbound,
      {
        ...{ kind: 'replay', maxBody: 1_000, refuseForMemory: () => NO_MEMORY, isSame: () => isSame },
        forward: { label: 'v1' } as unknown as ForwardOrder,
        stored: { fingerprint: 'f', status: 201, headers: {}, body: BODY },
      },
      deprecatedFacts().completion,
      { sink: { head: taken, write: () => true, end: taken, reset: taken, onDrain: taken }, memory },
    );
    stream.end(body);
    const refusal = await replay;
    const held = memory.held;
    client.emit('close');
    return { refusal, held, after: memory.held };
  }

  it('counts as held until its client has disconnected', async () => {
    expect(await given('{}', memoryFor(1_000))).toEqual({ refusal: undefined, held: BODY.length, after: 0 });
  });

  it.each([
    ['is refused for another payload', '{}', 1_000, false, { reason: 'idempotency_mismatch' }],
    [
      'is refused for a payload larger than any stored one',
      'x'.repeat(1_001),
      10_000,
      true,
      { reason: 'idempotency_mismatch' },
    ],
    ['is refused without memory for the payload', 'x'.repeat(900), 10, true, NO_MEMORY],
    ['is refused without memory for the response', 'x', BODY.length - 1, true, NO_MEMORY],
  ])('IDM-3: %s', async (_what, body, most, isSame, refusal) => {
    expect(await given(body, memoryFor(most), isSame)).toEqual({ refusal, held: 0, after: 0 });
  });
});
