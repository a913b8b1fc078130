// The requests of the bench: the same host, paths, tokens and bodies for every peer, in the same order.

/** The host of all requests. The peers listen on loopback. */
export const HOST = 'api.example.com';

/** Consumers, one token each: few enough for every cache, enough for many rate limit buckets. */
export const CONSUMERS = 50;

/** HTTP/1.1 connections. HTTP/2 uses as many concurrent streams. */
export const CONNECTIONS = 64;

export interface BenchRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  /** A header has a value that the fast plane passes to Node's parser. */
  readonly isUnusual?: boolean;
}

/** Octets of the upstream's responses. */
export const SMALL = 1_024;
export const LARGE = 102_400;

/** JSON of exactly `octets`. */
export function answerOf(octets: number): string {
  const record = { id: 1000, currency: 'EUR', amount: 4250, note: '' };
  return JSON.stringify({ ...record, note: 'x'.repeat(octets - JSON.stringify(record).length) });
}

/** One request per token. */
export function benchRequests(tokens: readonly string[], under = ''): readonly BenchRequest[] {
  return tokens.map((token, at) => ({
    method: 'GET',
    path: `/api/v1/orders${under}/${1000 + (at % CONSUMERS)}?expand=lines`,
    token,
  }));
}

export function posted(requests: readonly BenchRequest[], octets: number): readonly BenchRequest[] {
  const body = answerOf(octets);
  return requests.map((request) => ({ ...request, method: 'POST', body }));
}

/** `count` requests, of which the last has an unusual form. */
export function withOneUnusual(requests: readonly BenchRequest[], count: number): readonly BenchRequest[] {
  return Array.from({ length: count }, (_, at) => {
    const request = requests[at % requests.length] as BenchRequest;
    return at === count - 1 ? { ...request, isUnusual: true } : request;
  });
}

/** The headers of a typical API client. */
export function requestHeaders({
  token,
  body,
  isUnusual = false,
}: Pick<BenchRequest, 'token' | 'body' | 'isUnusual'>): Record<string, string> {
  return {
    host: HOST,
    accept: 'application/json',
    'user-agent': 'sundial-bench/1.0',
    authorization: `Bearer ${token}`,
    // RFC 9110 §5.5 allows a tab within a value.
    ...(isUnusual && { 'x-note': 'a\tb' }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  };
}

/** An environment variable that the bench sets for its children. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: start the bench with npm run bench`);
  return value;
}
