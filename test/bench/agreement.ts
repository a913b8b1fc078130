// Checks before any load that all peers respond alike, and finds how each peer spells the policy headers.
import { type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { type BenchRequest, HOST, requestHeaders } from './work.ts';

const LIFECYCLE_HEADERS = [
  'deprecation',
  'sunset',
  'link',
  'warning',
  'x-api-deprecation-info',
  'x-request-id',
];
const QUOTA_HEADERS = ['ratelimit-policy', 'ratelimit', 'x-ratelimit-limit', 'x-ratelimit-remaining'];
const POLICY_HEADERS = [...LIFECYCLE_HEADERS, ...QUOTA_HEADERS];

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names as sent. */
  readonly names: readonly string[];
  readonly body: string;
}

/** Sends one GET over a new connection. Without `token` it sends no credentials. */
export function ask(
  port: number,
  path: string,
  token: string | undefined,
  scheme: 'http' | 'https' = 'http',
): Promise<Answer> {
  const { authorization, ...anonymous } = requestHeaders({ token: token ?? '' });
  const headers = token === undefined ? anonymous : { ...anonymous, authorization };
  const tls = { rejectUnauthorized: false, servername: HOST };
  return new Promise((resolve, reject) => {
    const asked = (scheme === 'http' ? request : secureRequest)(
      { host: '127.0.0.1', port, path, headers, agent: false, timeout: 5_000, ...tls },
      (response) => {
        readAll(response).then((body) => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            names: response.rawHeaders.filter((_text, at) => at % 2 === 0),
            body,
          });
        }, reject);
      },
    );
    asked.once('timeout', () => asked.destroy(new Error(`no answer from port ${port} within 5 s`)));
    asked.once('error', reject);
    asked.end();
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export interface Side {
  readonly name: string;
  readonly port: number;
}

interface Case {
  readonly what: string;
  readonly path: string;
  readonly token: string | undefined;
  /** Compares bodies and policy headers too, not only statuses. */
  readonly served: boolean;
}

/** Differences between two peers with policy, one sentence each, over served and refused requests. */
export function policyDifferences(one: Side, two: Side, { path, token }: BenchRequest): Promise<string[]> {
  return differences(one, two, POLICY_HEADERS, [
    { what: 'a served request', path, token, served: true },
    { what: 'a request to the newest version', path: path.replace('/v1/', '/v2/'), token, served: true },
    { what: 'a request without a token', path, token: undefined, served: false },
    { what: 'a forged token', path, token: forged(token), served: false },
    { what: 'an unknown version', path: path.replace('/v1/', '/v9/'), token, served: false },
    { what: 'a token in the URL', path: `${path}&access_token=${token}`, token, served: false },
  ]);
}

/** Differences between two peers that only forward. */
export function plainDifferences(
  one: Side,
  two: Side,
  { path, token }: BenchRequest,
  scheme: 'http' | 'https',
): Promise<string[]> {
  const headers = ['content-type', 'content-length', 'etag', 'cache-control'];
  return differences(one, two, headers, [{ what: 'a request', path, token, served: true }], scheme);
}

/** A gateway without a timely reply from Redis sends no quota headers (RL-13), so a difference must last. */
const TRIES = 10;
const TRY_AGAIN_AFTER_MS = 200;
/** Limits the length of a value in a message: a body may have 100 KiB. */
const MAX_SHOWN = 300;

async function differences(
  one: Side,
  two: Side,
  headers: readonly string[],
  cases: readonly Case[],
  scheme: 'http' | 'https' = 'http',
): Promise<string[]> {
  const found: string[] = [];
  for (const each of cases) {
    let lasting = await differencesOf(one, two, headers, each, scheme);
    for (let tries = 1; lasting.length > 0 && tries < TRIES; tries += 1) {
      await wait(TRY_AGAIN_AFTER_MS);
      lasting = await differencesOf(one, two, headers, each, scheme);
    }
    found.push(...lasting);
  }
  return found;
}

async function differencesOf(
  one: Side,
  two: Side,
  headers: readonly string[],
  { what, path, token, served }: Case,
  scheme: 'http' | 'https',
): Promise<string[]> {
  const found: string[] = [];
  const asked = [one, two].map(({ port }) => ask(port, path, token, scheme));
  const [left, right] = (await Promise.all(asked)) as [Answer, Answer];
  const compare = (field: string, a: unknown, b: unknown): void => {
    const [ours, theirs] = [String(JSON.stringify(a)), String(JSON.stringify(b))];
    if (ours === theirs) return;
    const shown = (text: string): string => text.slice(0, MAX_SHOWN);
    found.push(`${what}: ${field}: ${one.name} ${shown(ours)}, ${two.name} ${shown(theirs)}`);
  };
  compare('status', left.status, right.status);
  if (!served) return found;
  compare('body', left.body, right.body);
  for (const name of headers) compare(name, comparable(name, left.headers), comparable(name, right.headers));
  return found;
}

/** As the peer spells them. */
export interface PolicyHeaders {
  /** In every response. */
  readonly always: readonly string[];
  /** In every response while Redis replies in time: a gateway invents no numbers (RL-13). */
  readonly quota: readonly string[];
}

export const NO_POLICY: PolicyHeaders = { always: [], quota: [] };

/** @throws Error if the sample is not served or a policy header is missing */
export async function policyHeaders(
  name: string,
  port: number,
  sample: BenchRequest,
): Promise<PolicyHeaders> {
  let answer = await ask(port, sample.path, sample.token);
  for (let tries = 1; !POLICY_HEADERS.every((name) => name in answer.headers) && tries < TRIES; tries += 1) {
    await wait(TRY_AGAIN_AFTER_MS);
    answer = await ask(port, sample.path, sample.token);
  }
  const spelled = (header: string): string => {
    const found = answer.names.find((candidate) => candidate.toLowerCase() === header);
    if (answer.status === 200 && found !== undefined) return found;
    throw new Error(`${name} answers ${answer.status} with ${found ?? `no ${header}`}`);
  };
  return { always: LIFECYCLE_HEADERS.map(spelled), quota: QUOTA_HEADERS.map(spelled) };
}

/** Counters and ids always differ, so only their form is compared. */
function comparable(name: string, headers: Answer['headers']): unknown {
  const value = headers[name];
  if (value === undefined) return undefined;
  if (name === 'x-request-id') return 'present';
  if (name === 'x-ratelimit-remaining') return String(value).replace(/\d+/, 'n');
  if (name === 'ratelimit')
    return String(value)
      .replace(/;r=\d+/, ';r=n')
      .replace(/;t=\d+/, ';t=n');
  return value;
}

function forged(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}
