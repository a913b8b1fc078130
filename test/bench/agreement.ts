// Before any load: Sundial and the conventional peer must give the same answers, or the comparison means nothing.
// Also finds the policy headers that every answer under load must carry, in each peer's own spelling.
import { type IncomingMessage, request } from 'node:http';
import { type BenchRequest, requestHeaders } from './work.ts';

const LIFECYCLE_HEADERS = [
  'deprecation',
  'sunset',
  'link',
  'warning',
  'x-api-deprecation-info',
  'x-request-id',
];
const QUOTA_HEADERS = ['ratelimit-policy', 'ratelimit', 'x-ratelimit-limit', 'x-ratelimit-remaining'];
/** What the policy of the bench puts on an answer. */
const POLICY_HEADERS = [...LIFECYCLE_HEADERS, ...QUOTA_HEADERS];

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names as written on the wire. */
  readonly names: readonly string[];
  readonly body: string;
}

/** One GET on a connection of its own; `token` undefined sends no credentials. */
export function ask(port: number, path: string, token: string | undefined): Promise<Answer> {
  const { authorization, ...anonymous } = requestHeaders(token ?? '');
  const headers = token === undefined ? anonymous : { ...anonymous, authorization };
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path, headers, agent: false, timeout: 5_000 },
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

/** Differences between two peers over served and refused requests, one sentence each; empty when they agree. */
export async function disagreements(
  names: readonly [string, string],
  ports: readonly [number, number],
  sample: BenchRequest,
): Promise<readonly string[]> {
  const cases = [
    { what: 'a served request', path: sample.path, token: sample.token, full: true },
    {
      what: 'a request to the newest version',
      path: sample.path.replace('/v1/', '/v2/'),
      token: sample.token,
      full: true,
    },
    { what: 'a request without a token', path: sample.path, token: undefined, full: false },
    { what: 'a forged token', path: sample.path, token: forged(sample.token), full: false },
    {
      what: 'an unknown version',
      path: sample.path.replace('/v1/', '/v9/'),
      token: sample.token,
      full: false,
    },
  ];
  const found: string[] = [];
  for (const { what, path, token, full } of cases) {
    const [one, two] = await Promise.all([ask(ports[0], path, token), ask(ports[1], path, token)]);
    const compare = (field: string, a: unknown, b: unknown): void => {
      const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
      if (left !== right) found.push(`${what}: ${field}: ${names[0]} ${left}, ${names[1]} ${right}`);
    };
    compare('status', one.status, two.status);
    if (!full) continue;
    compare('body', one.body, two.body);
    for (const name of POLICY_HEADERS)
      compare(name, comparable(name, one.headers), comparable(name, two.headers));
  }
  return found;
}

/** Names of policy headers as one peer spells them. */
export interface PolicyHeaders {
  /** On every answer. */
  readonly always: readonly string[];
  /** On every answer while Redis answers in time: a gateway invents no numbers (RL-13). */
  readonly quota: readonly string[];
}

export const NO_POLICY: PolicyHeaders = { always: [], quota: [] };

/** @throws when the sample is not served, or without one of the policy headers */
export async function policyHeaders(
  name: string,
  port: number,
  sample: BenchRequest,
): Promise<PolicyHeaders> {
  const answer = await ask(port, sample.path, sample.token);
  const spelled = (header: string): string => {
    const found = answer.names.find((candidate) => candidate.toLowerCase() === header);
    if (answer.status === 200 && found !== undefined) return found;
    throw new Error(`${name} answers ${answer.status} with ${found ?? `no ${header}`}`);
  };
  return { always: LIFECYCLE_HEADERS.map(spelled), quota: QUOTA_HEADERS.map(spelled) };
}

/** Counters differ from moment to moment and ids always: only their form is compared. */
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

/** The same token with its signature altered. */
function forged(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}
