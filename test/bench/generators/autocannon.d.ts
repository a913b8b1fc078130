// Types of the part of autocannon that the bench calls. The package has no types.
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  interface Client extends EventEmitter {
    readonly setRequests: (requests: readonly Request[]) => void;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration?: number;
    /** Number of requests, instead of a duration. */
    readonly amount?: number;
    readonly requests: readonly Request[];
    readonly setupClient?: (client: Client) => void;
    readonly servername?: string;
  }

  interface Result {
    /** Connection failures and timeouts. */
    readonly errors: number;
    readonly non2xx: number;
  }

  interface Instance extends EventEmitter, PromiseLike<Result> {
    /** `time`: milliseconds. */
    on(
      event: 'response',
      listener: (client: Client, status: number, bytes: number, time: number) => void,
    ): this;
  }

  const autocannon: (options: Options) => Instance;

  export = autocannon;
}
