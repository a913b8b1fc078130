// A response held for an idempotency key, without sockets: the gateway stores it before it sends it.
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { idempotencyOf } from '../../gateway/sections/idempotency/compile.ts';
import { captureAnswer } from '../../gateway/upstream/bodies/captured-answer.ts';

const rules = idempotencyOf([{}]);
if (rules === undefined) throw new Error('no rules');

/** A complete response of an upstream. `calls` lists what the gateway sent and stored, in order. */
function answered({ gone = false } = {}) {
  const calls: string[] = [];
  const kept = Promise.withResolvers<void>();
  const res = new EventEmitter();
  const memory = { held: 0, most: 100 };
  const record = (what: string) => () => void calls.push(what);
  const claim = {
    rules: rules as NonNullable<typeof rules>,
    judge: () => 'keep' as const,
    headOf: (status: number) => ({ status, headers: {} }),
    keep: (_request: Uint8Array, { body }: { readonly body: Uint8Array }) => {
      calls.push(`keep ${Buffer.from(body)}`);
      return kept.promise;
    },
    ...{
      release: record('release'),
      continueWithoutKey: record('continueWithoutKey'),
      reportTooLarge: record('reportTooLarge'),
    },
  };
  const capture = captureAnswer({
    ...{
      inbound: { gone, onClosed: (listener) => void res.once('close', listener) },
      claim,
      request: Buffer.from('x'),
      memory,
    },
    delivery: {
      head: (status) => void calls.push(`head ${status}`),
      write: (chunk) => calls.push(`data ${chunk}`) > 0,
      ...{ end: record('end'), discard: record('discard') },
    },
    onStreaming: record('passed on'),
    onUndeliverable: record('not given'),
  });
  capture.head(201, new HeaderLines());
  capture.write(Buffer.from('a'));
  capture.write(Buffer.from('b'));
  capture.end();
  return { calls, kept, capture, res, memory };
}

/** Runs pending promise callbacks. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('IDM-5: a response is stored before its first byte is sent', async () => {
  const { calls, kept } = answered();
  await settle();
  expect(calls).toEqual(['keep ab']);
  kept.resolve();
  await settle();
  expect(calls).toEqual(['keep ab', 'head 201', 'data ab', 'end', 'discard']);
});

it('promise 42: the response to a disconnected client is stored, and not sent', async () => {
  const { calls, kept, capture } = answered({ gone: true });
  expect(capture.mayStillStore()).toBe(true);
  kept.resolve();
  await settle();
  expect(calls).toEqual(['keep ab', 'not given', 'discard']);
});

it('an unread response counts as held until the client disconnects', async () => {
  const { kept, res, memory } = answered();
  expect(memory.held).toBeGreaterThanOrEqual(2);
  kept.resolve();
  await settle();
  expect(memory.held).toBe(2);
  res.emit('close');
  expect(memory.held).toBe(0);
  const left = answered({ gone: true });
  left.kept.resolve();
  await settle();
  expect(left.memory.held).toBe(0);
});
