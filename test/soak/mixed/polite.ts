// Half of the soak's traffic: well-formed requests over every transport, each with its expected response.
import { createHash } from 'node:crypto';
import type { Answer, Ask, Client } from '../../support/http-client.ts';
import type { TestIssuer } from '../../support/issuer.ts';
import { must, type State } from './state.ts';

/** The host of every API; the certificates contain it. */
export const NAME = 'api.example.com';

export interface Ways {
  readonly h1: () => Client;
  readonly h2: () => Client;
  readonly plain: () => Client;
}

export interface Scene extends Ways {
  readonly ports: { readonly https: number; readonly http: number };
  readonly issuer: TestIssuer;
  readonly state: State;
}

/** Resolves if the response was right; `fault` if an upstream's fault was answered correctly. */
export type Kind = (scene: Scene) => Promise<'fault' | undefined>;

const BODY = Buffer.alloc(700 * 1_024, 'b');
const DIGEST = createHash('sha256').update(BODY).digest('hex');
const CHUNK_BYTES = 16 * 1_024;
const CHUNKS = 48;

const way = (scene: Scene): Client => pick([scene.h1, scene.h2, scene.plain])();

export function pick<T>(from: readonly T[]): T {
  const picked = from[Math.floor(Math.random() * from.length)];
  if (picked === undefined) throw new Error('nothing to pick from');
  return picked;
}

function shown({ status, complete, headers, text }: Answer): string {
  return `${status}${complete ? '' : ', cut short'} ${JSON.stringify(headers)} ${text.slice(0, 200)}`;
}

function mustBe(answer: Answer, ...statuses: readonly number[]): void {
  must(answer.complete && statuses.includes(answer.status), () => `wanted ${statuses}, got ${shown(answer)}`);
  must(/^[\w-]{8,}$/.test(answer.headers['x-request-id'] ?? ''), () => `no request id: ${shown(answer)}`);
}

function once(path: string, check: (answer: Answer) => void, more: Omit<Ask, 'path'> = {}): Kind {
  return async (scene) => {
    check(await way(scene).ask({ path, ...more }));
    return undefined;
  };
}

const orders =
  (path: string, version: 'v1' | 'v2'): Kind =>
  async (scene) => {
    const { least } = scene.state.edition;
    const answer = await way(scene).ask({ path });
    mustBe(answer, 200);
    const edition = Number(answer.headers['x-edition']);
    const { newest } = scene.state.edition;
    must(edition >= least && edition <= newest, () => `edition ${edition}, not ${least} to ${newest}`);
    must(answer.json.target === '/echo/7?x=1', () => `the upstream saw ${String(answer.json.target)}`);
    const { deprecation, sunset, link = '' } = answer.headers;
    const marked = link.includes(`/edition-${edition}>`);
    if (version === 'v1')
      must(
        deprecation !== undefined && sunset !== undefined && marked && '_deprecation' in answer.json,
        () => `deprecated, not marked as such: ${shown(answer)}`,
      );
    else
      must(deprecation === undefined && sunset === undefined, () => `marked as deprecated: ${shown(answer)}`);
    return undefined;
  };

const upload: Kind = async (scene) => {
  const answer = await way(scene).ask({ path: '/api/open/up', method: 'POST', body: BODY });
  mustBe(answer, 200);
  const { sha256 } = answer.json.body as { readonly sha256: string };
  must(sha256 === DIGEST, () => 'the body that arrived is another');
  return undefined;
};

const download: Kind = async (scene) => {
  const answer = await way(scene).ask({ path: `/api/open/down?chunks=${CHUNKS}&bytes=${CHUNK_BYTES}` });
  mustBe(answer, 200);
  must(answer.body.length === CHUNKS * CHUNK_BYTES, () => `${answer.body.length} bytes came`);
  return undefined;
};

const events: Kind = async (scene) => {
  const path = '/api/open/events?chunks=5&every=100&header=Content-Type:text/event-stream';
  const answer = await way(scene).ask({ path });
  mustBe(answer, 200);
  must(answer.text.includes('chunk 4'), () => `the stream ended early: ${shown(answer)}`);
  return undefined;
};

/** A new token, or in the second half one that was sent before. */
async function drawn(
  name: string,
  make: (issuer: TestIssuer) => Promise<string>,
  scene: Scene,
): Promise<string> {
  const { familiar, tokens } = scene.state;
  const sent = tokens.getOrInsertComputed(name, () => []);
  const known = familiar ? sent[Math.floor(Math.random() * sent.length)] : undefined;
  const token = known ?? (await make(scene.issuer));
  if (known === undefined) sent.push(token);
  return token;
}

const members =
  (name: string, make: ((issuer: TestIssuer) => Promise<string>) | undefined, status: number): Kind =>
  async (scene) => {
    const headers = make === undefined ? {} : { authorization: `Bearer ${await drawn(name, make, scene)}` };
    const answer = await way(scene).ask({ path: '/api/v1/members/7', headers });
    mustBe(answer, status);
    must(status !== 401 || 'www-authenticate' in answer.headers, () => `no challenge: ${shown(answer)}`);
    must(!answer.text.toLowerCase().includes('bearer ey'), () => 'the upstream saw the token');
    return undefined;
  };

const fickle: Kind = async (scene) => {
  const { fickle: before } = scene.state;
  const { well, changes } = before;
  const answer = await way(scene).ask({ path: '/api/fickle/7' });
  const { fickle: after } = scene.state;
  if (well && after.changes === changes) {
    mustBe(answer, 200);
    return undefined;
  }
  must([200, 502, 503, 504].includes(answer.status), () => `of a fault: ${shown(answer)}`);
  must(
    !/127\.0\.0\.1|ECONN|node:/.test(answer.status === 200 ? '' : answer.text),
    () => `tells: ${answer.text}`,
  );
  return answer.status === 200 ? undefined : 'fault';
};

const rude =
  (how: 'before' | 'middle'): Kind =>
  async (scene) => {
    const query = how === 'middle' ? 'hangup=middle&chunks=10&bytes=1000' : 'hangup=before';
    const answer = await way(scene).ask({ path: `/api/rude/7?${query}` });
    const right = how === 'before' ? [502, 503].includes(answer.status) && answer.complete : !answer.complete;
    must(right, () => `of an upstream that hangs up: ${shown(answer)}`);
    return 'fault';
  };

const quotes: Kind = async (scene) => {
  const answer = await way(scene).ask({ path: '/api/quotes' });
  mustBe(answer, 200, 429);
  must(answer.status === 200 || Number(answer.headers['retry-after']) > 0, () => `no wait: ${shown(answer)}`);
  return undefined;
};

const browned: Kind = async (scene) => {
  const answer = await way(scene).ask({ path: '/api/v1/browned' });
  mustBe(answer, 200, 410);
  must(answer.status === 200 || 'retry-after' in answer.headers, () => `no end named: ${shown(answer)}`);
  return undefined;
};

const refused =
  (path: () => string, ...statuses: readonly number[]): Kind =>
  async (scene) => {
    mustBe(await way(scene).ask({ path: path() }), ...statuses);
    return undefined;
  };

const named = () => Math.random().toString(36).slice(2);

/** With their shares of the traffic. */
export const POLITE: Readonly<Record<string, readonly [share: number, kind: Kind]>> = {
  'current version': [8, orders('/api/v2/orders/7?x=1', 'v2')],
  'version by query': [4, orders('/api/orders/7?x=1&version=v2', 'v2')],
  'deprecated version': [8, orders('/api/v1/orders/7?x=1', 'v1')],
  'retired, gone': [3, once('/api/v0/orders', (answer) => mustBe(answer, 410))],
  'retired, moved': [
    3,
    once('/api/v1/moved/7', (answer) => {
      mustBe(answer, 301);
      must(answer.headers.location?.endsWith('/api/v2/moved/7') ?? false, () => `sent to ${shown(answer)}`);
    }),
  ],
  brownout: [3, browned],
  limit: [4, quotes],
  'unknown path': [3, refused(() => `/${named()}/${named()}`, 404)],
  'unknown version': [3, refused(() => `/api/v${100 + Math.floor(Math.random() * 1e6)}/orders`, 400, 404)],
  'unlisted method': [1, once('/api/v2/orders/7', (answer) => mustBe(answer, 200), { method: 'DELETE' })],
  'credential in the URL': [1, refused(() => `/api/open?access_token=${named()}`, 400)],
  'fresh token': [4, members('fresh', (issuer) => issuer.sign(), 200)],
  'no token': [2, members('none', undefined, 401)],
  'invalid token': [2, members('nobody', async () => `ey.${named()}.x`, 401)],
  'expired token': [2, members('yesterday', (issuer) => issuer.sign({ iat: 1, exp: 2 }), 401)],
  'token without scope': [1, members('another', (issuer) => issuer.sign({ scope: 'other' }), 403)],
  'new consumer': [3, members('consumer', (issuer) => issuer.sign({ client_id: named() }), 200)],
  upload: [2, upload],
  download: [2, download],
  events: [2, events],
  'fickle upstream': [6, fickle],
  'upstream closes before': [2, rude('before')],
  'upstream closes within': [2, rude('middle')],
};
