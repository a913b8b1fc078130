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
  const stored = Promise.withResolvers<void>();
  const res = new EventEmitter();
  const memory = { held: 0, most: 100 };
  const record = (what: string) => () => void calls.push(what);
  const claim = {
    rules: rules as NonNullable<typeof rules>,
    judge: () => 'store' as const,
    headOf: (status: number) => ({ status, headers: {} }),
    store: (_request: Uint8Array, { body }: { readonly body: Uint8Array }) => {
      calls.push(`store ${Buffer.from(body)}`);
      return stored.promise;
    },
    ...{
      release: record('release'),
      continueWithoutKey: record('continueWithoutKey'),
      reportUnstorable: record('reportUnstorable'),
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
    onStreaming: record('streaming'),
    onUndeliverable: record('undeliverable'),
  });
  capture.head(201, new HeaderLines());
  capture.write(Buffer.from('a'));
  capture.write(Buffer.from('b'));
  capture.end();
  return { calls, stored, capture, res, memory };
}

/** Runs pending promise callbacks. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('IDM-5: a response is stored before its first byte is sent', async () => {
  const { calls, stored } = answered();
  await settle();
  expect(calls).toEqual(['store ab']);
  stored.resolve();
  await settle();
  expect(calls).toEqual(['store ab', 'head 201', 'data ab', 'end', 'discard']);
});

it('IDM-5: the response to a disconnected client is stored, and not sent', async () => {
  const { calls, stored, capture } = answered({ gone: true });
  expect(capture.mayStillStore()).toBe(true);
  stored.resolve();
  await settle();
  expect(calls).toEqual(['store ab', 'undeliverable', 'discard']);
});

it('an unread response counts as held until the client disconnects', async () => {
  const { stored, res, memory } = answered();
  expect(memory.held).toBeGreaterThanOrEqual(2);
  stored.resolve();
  await settle();
  expect(memory.held).toBe(2);
  res.emit('close');
  expect(memory.held).toBe(0);
  const left = answered({ gone: true });
  left.stored.resolve();
  await settle();
  expect(left.memory.held).toBe(0);
});
