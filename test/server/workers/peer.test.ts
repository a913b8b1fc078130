// Calls between two processes of the gateway: order, failures, and the end of the other process.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { type Answers, connectPeer, PeerGone } from '../../../gateway/server/workers/peer.ts';
import { TimedOut, withTimeout } from '../../../gateway/server/workers/restart-delay.ts';

interface Far {
  readonly double: (n: number) => Promise<number>;
  readonly fail: (message: string) => void;
  readonly never: () => Promise<void>;
  readonly log: (text: string) => void;
  readonly unknown: () => void;
}

let ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports) port.close();
});

function pair(answers: Answers) {
  const { port1, port2 } = new MessageChannel();
  ports = [port1, port2];
  const wire = (port: MessagePort) => ({
    send: (message: object) => port.postMessage(message),
    onMessage: (listener: (message: unknown) => void) => void port.on('message', listener),
  });
  connectPeer(wire(port2), answers);
  const near = connectPeer(wire(port1), {});
  return { ask: near.peer<Far>(), lost: near.lost };
}

describe('a peer', () => {
  it('matches each response to its request, in any order', async () => {
    const { ask } = pair({
      double: async (n: number) => {
        if (n === 1) await new Promise((resolve) => setImmediate(resolve));
        return 2 * n;
      },
    });
    expect(await Promise.all([ask('double', 1), ask('double', 2), ask('double', 3)])).toEqual([2, 4, 6]);
  });

  it('receives messages in the order in which they were sent', async () => {
    const received: string[] = [];
    const { ask } = pair({ log: (text: string) => void received.push(text) });
    await Promise.all(['a', 'b', 'c'].map((text) => ask('log', text)));
    expect(received).toEqual(['a', 'b', 'c']);
  });

  it('returns the error of a handler, and an error for an unknown handler', async () => {
    const { ask } = pair({
      fail: (message: string) => {
        throw new TypeError(message);
      },
    });
    await expect(ask('fail', 'because')).rejects.toThrow('because');
    await expect(ask('unknown', undefined)).rejects.toThrow('no handler for unknown');
  });

  it('rejects pending and later calls when the other process has ended', async () => {
    const { ask, lost } = pair({ never: () => new Promise<void>(() => undefined) });
    const waiting = ask('never', undefined);
    lost('ended by SIGKILL');
    await expect(waiting).rejects.toThrow(new PeerGone('ended by SIGKILL'));
    await expect(ask('double', 1)).rejects.toThrow(PeerGone);
  });

  it('has a timeout for responses', async () => {
    const { ask } = pair({ never: () => new Promise<void>(() => undefined) });
    await expect(withTimeout(5, ask('never', undefined))).rejects.toThrow(TimedOut);
    expect(await withTimeout(5, Promise.resolve(7))).toBe(7);
  });
});
