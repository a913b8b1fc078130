// What every peer of the bench is asked: the same host, paths and tokens, in the same order.
// Built once by run.ts, replayed by load.ts, sampled by agreement.ts.

/** The host all requests name; the peers listen on loopback. */
export const HOST = 'api.example.com';

/** Consumers, each with one token of its own; small enough for every cache, large enough for many rate-limit buckets. */
export const CONSUMERS = 50;

export const CONNECTIONS = 64;

export interface BenchRequest {
  readonly path: string;
  readonly token: string;
}

/** One request per token, each for a resource of its own. */
export function benchRequests(tokens: readonly string[]): readonly BenchRequest[] {
  return tokens.map((token, at) => ({ path: `/api/v1/orders/${1000 + at}?expand=lines`, token }));
}

/** The request headers of a usual API client. */
export function requestHeaders(token: string): Readonly<Record<string, string>> {
  return {
    host: HOST,
    accept: 'application/json',
    'user-agent': 'sundial-bench/1.0',
    authorization: `Bearer ${token}`,
  };
}

/** An environment variable the runner sets for its children. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: start the bench with npm run bench`);
  return value;
}
