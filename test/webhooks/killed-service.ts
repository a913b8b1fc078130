// The service of test:webhooks as a process that can be killed and restarted, with a client that retries.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createKilledProcess, type KilledProcess } from './killed-process.ts';

export interface ServiceProcess extends KilledProcess {
  readonly call: (
    path: string,
    init?: { readonly method: string; readonly body: string },
  ) => Promise<Response>;
  /** Posts an event, with retries until it is accepted. Resolves with the number of attempts. */
  readonly post: (event: object) => Promise<number>;
}

export interface ServiceProcessOptions {
  readonly port: number;
  readonly folder: string;
  /** `host:port`. */
  readonly receiver: string;
  readonly redisUrl: string | undefined;
  /** Gets the standard error of the service. */
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
        // Any other response, or none, is retried.
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
