// One gateway that accepts tokens, API keys and client certificates, and requests with each of them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startEcho } from '../../../upstreams/echo/echo.ts';
import { adminWriter } from '../../support/admin-write.ts';
import { certificateFolder } from '../../support/certificate-folder.ts';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import {
  type Answer,
  type Client,
  type ClientPair,
  type Fields,
  overHttp1,
} from '../../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../../support/issuer.ts';
import { makeKeyPair } from '../../support/key-pairs.ts';

export const AUTHOR = { by: 'api-team', why: 'contract 4711' };
const METADATA = 'https://a.example/.well-known/oauth-protected-resource';
export const CHALLENGES = [
  `Bearer realm="orders", resource_metadata="${METADATA}/api/orders"`,
  'ApiKey realm="orders", header="X-API-Key"',
  'ClientCertificate realm="orders"',
];

/** Client certificates: by a known authority, with two names, and by an unknown authority. */
export interface Pairs {
  readonly proven: ClientPair;
  readonly twoNames: ClientPair;
  readonly unproven: ClientPair;
}

export interface MadeKey {
  readonly secret: string;
  readonly id: string;
}

interface Parts {
  readonly gateway: RunningGateway;
  readonly issuer: TestIssuer;
  readonly client: Client;
  readonly environment: Readonly<Record<string, string>>;
  readonly write: ReturnType<typeof adminWriter>;
  readonly pairs: Pairs;
}

interface Asking {
  readonly method?: string;
  /** Default: HTTP/1.1 without a certificate. */
  readonly over?: Client;
}

/** Call `open` first. */
export interface Fixture {
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly gateway: () => RunningGateway;
  readonly issuer: () => TestIssuer;
  readonly client: () => Client;
  readonly environment: () => Readonly<Record<string, string>>;
  readonly pairs: () => Pairs;
  readonly write: ReturnType<typeof adminWriter>;
  readonly ask: (path: string, headers?: Fields, asking?: Asking) => Promise<Answer>;
  readonly makeKey: (consumer: string, more?: Readonly<Record<string, unknown>>) => Promise<MadeKey>;
  readonly bearer: (claims: Readonly<Record<string, unknown>>) => Promise<{ readonly authorization: string }>;
  readonly logged: (answer: Answer) => ReturnType<RunningGateway['accessLine']>;
}

export function createFixture(): Fixture {
  const stack = new AsyncDisposableStack();
  let parts: Parts | undefined;
  const part =
    <K extends keyof Parts>(name: K) =>
    (): Parts[K] => {
      if (parts === undefined) throw new Error(`${name} is not open`);
      return parts[name];
    };
  const write: Fixture['write'] = (asked) => part('write')()(asked);
  return {
    open: async () => {
      parts = await open(stack);
    },
    close: () => stack.disposeAsync(),
    gateway: part('gateway'),
    issuer: part('issuer'),
    client: part('client'),
    environment: part('environment'),
    pairs: part('pairs'),
    write,
    ask: (path, headers = {}, { method = 'GET', over = part('client')() } = {}) =>
      over.ask({ path, method, headers: { host: 'a.example', ...headers } }),
    makeKey: async (consumer, more = {}) => {
      const made = await write({ method: 'POST', path: '/-/keys', body: { consumer, ...AUTHOR, ...more } });
      const { key, secret } = made.json as { readonly key: { readonly id: string }; readonly secret: string };
      expect(made).toMatchObject({ status: 201, headers: { location: `/-/keys/${key.id}` } });
      return { secret, id: key.id };
    },
    bearer: async (claims) => ({ authorization: `Bearer ${await part('issuer')().sign(claims)}` }),
    logged: (answer) => part('gateway')().accessLine(answer.headers['x-request-id']),
  };
}

async function open(stack: AsyncDisposableStack): Promise<Parts> {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const folder = stack.use(await certificateFolder());
  await folder.place('a', ['a.example']);
  const authorities = await Promise.all(
    ['one.ca', 'other.ca'].map((name) => makeKeyPair({ names: [name], authority: true })),
  );
  const [by, other] = authorities;
  if (by === undefined || other === undefined) throw new Error('no authorities');
  const pairs = {
    proven: await makeKeyPair({ names: ['billing.acme.example'], by }),
    twoNames: await makeKeyPair({ names: ['one.acme.example', 'two.acme.example'], by: other }),
    unproven: await makeKeyPair({ names: ['billing.acme.example'] }),
  };
  // As `cat` joins files that have no final newline.
  await writeFile(join(folder.path, 'b.crt'), authorities.map(({ cert }) => cert.trim()).join(''));
  const environment = { ECHO: echo.url, ISSUER: issuer.url, CERTS: folder.path };
  const gateway = stack.use(
    await runGateway({ config: 'callers/gateway.yaml', policies: 'callers/policies', environment }),
  );
  const client = stack.use(overHttp1(gateway.https));
  const admin = stack.use(overHttp1(gateway.admin, { tls: false }));
  const write = adminWriter(admin, await gateway.adminToken());
  return { gateway, issuer, client, environment, write, pairs };
}

export const challengesOf = ({ lines }: Answer) =>
  lines.filter(([name]) => name === 'www-authenticate').map(([, value]) => value);

/** The fields that the upstream received, in any spelling of the name. */
export const seen = (answer: Answer, pattern: RegExp) =>
  (answer.json.headers as readonly (readonly [string, string])[]).filter(([name]) => pattern.test(name));
