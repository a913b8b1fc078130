// The service of test:webhooks as a process that is killed and comes back at the same port, with its subscription.
// Its clients try again until it takes what they have, as an outbox does.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createKilledProcess, type KilledProcess } from './killed-process.ts';

export interface ServiceProcess extends KilledProcess {
  readonly call: (
    path: string,
    init?: { readonly method: string; readonly body: string },
  ) => Promise<Response>;
  /** Posts an event until it is taken; resolves with how often that took. */
  readonly post: (event: object) => Promise<number>;
}

export interface ServiceProcessOptions {
  readonly port: number;
  readonly folder: string;
  /** `host:port`. */
  readonly receiver: string;
  readonly redisUrl: string | undefined;
  /** Takes what the service says of its faults. */
  readonly logFile: string;
}

const PROGRAM = join(import.meta.dirname, 'service-program.ts');
const AGAIN_AFTER_MS = 50;

export function createServiceProcess(options: ServiceProcessOptions): ServiceProcess {
  const { port, folder, receiver, redisUrl = '', logFile } = options;
  const url = `http://127.0.0.1:${port}`;
  const headers = { 'content-type': 'application/json', 'x-consumer-id': 'acme' };
  const call: ServiceProcess['call'] = (path, init) =>
    fetch(`${url}${path}`, { ...init, headers, signal: AbortSignal.timeout(10_000) });
  return {
    ...createKilledProcess({ program: [PROGRAM, String(port), folder, receiver, redisUrl], logFile }),
    call,
    post: async (event) => {
      const body = JSON.stringify(event);
      for (let tries = 1; ; tries += 1) {
        // Whatever it answers or does not: it is away until it takes the event.
        const status = await call('/events', { method: 'POST', body }).then(
          async (answer) => {
            await answer.arrayBuffer();
            return answer.status;
          },
          () => 0,
        );
        if (status === 202) return tries;
        if (status === 400) throw new Error(`the intake refuses ${body}`);
        await pause(AGAIN_AFTER_MS);
      }
    },
  };
}
