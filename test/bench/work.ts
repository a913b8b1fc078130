// What every peer of the bench is asked: the same host, paths, tokens and bodies, in the same order.

/** The host all requests name; the peers listen on loopback. */
export const HOST = 'api.example.com';

/** Consumers, each with one token of its own; small enough for every cache, large enough for many rate-limit buckets. */
export const CONSUMERS = 50;

/** Connections of HTTP/1.1; HTTP/2 has as many streams at once. */
export const CONNECTIONS = 64;

export interface BenchRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  /** One of its fields has a value that the fast plane leaves to the parser of Node. */
  readonly isUnusual?: boolean;
}

/** Octets of the answers of the upstream. */
export const SMALL = 1_024;
export const LARGE = 102_400;

/** The JSON that the upstream answers with, of so many octets. */
export function answerOf(octets: number): string {
  const record = { id: 1000, currency: 'EUR', amount: 4250, note: '' };
  return JSON.stringify({ ...record, note: 'x'.repeat(octets - JSON.stringify(record).length) });
}

/** One request per token, each for a resource of its own. */
export function benchRequests(tokens: readonly string[], under = ''): readonly BenchRequest[] {
  return tokens.map((token, at) => ({
    method: 'GET',
    path: `/api/v1/orders${under}/${1000 + (at % CONSUMERS)}?expand=lines`,
    token,
  }));
}

/** The same requests with a JSON body of so many octets. */
export function posted(requests: readonly BenchRequest[], octets: number): readonly BenchRequest[] {
  const body = answerOf(octets);
  return requests.map((request) => ({ ...request, method: 'POST', body }));
}

/** `count` requests taken from `requests` in turn, the last one in an unusual form. */
export function withOneUnusual(requests: readonly BenchRequest[], count: number): readonly BenchRequest[] {
  return Array.from({ length: count }, (_, at) => {
    const request = requests[at % requests.length] as BenchRequest;
    return at === count - 1 ? { ...request, isUnusual: true } : request;
  });
}

/** The request headers of a usual API client. */
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
    // RFC 9110 §5.5 lets a tab stand within a value.
    ...(isUnusual && { 'x-note': 'a\tb' }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  };
}

/** An environment variable the bench sets for its children. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: start the bench with npm run bench`);
  return value;
}
