// Hostile requests to the real pipeline and verifiers, each with its status and the flaw in the log.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import { createTokenVerifier } from '../../gateway/identity/authenticators.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import {
  ACCESS,
  api,
  NOW,
  plan,
  upstream,
  type ViewParts,
  version,
  view,
} from '../support/exchange-samples.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { quietPorts } from '../support/quiet-ports.ts';
import { ALGORITHMS } from './hostile/algorithms.ts';
import { BINDINGS } from './hostile/bindings.ts';
import { CLAIMS } from './hostile/claims.ts';
import { HEADERS } from './hostile/headers.ts';
import { KEYS } from './hostile/keys.ts';
import { REQUESTS } from './hostile/requests.ts';
import { NO_TOKENS } from './hostile/shapes.ts';
import { SIGNATURES } from './hostile/signatures.ts';
import { ALPHABET, type Asked, type Issuers } from './hostile/ways.ts';

const TOKENS = [...ALGORITHMS, ...SIGNATURES, ...KEYS, ...HEADERS, ...CLAIMS, ...NO_TOKENS];

const stack = new AsyncDisposableStack();
let issuers: Issuers;
let exchanges: Readonly<Record<Asked, Exchange>>;

beforeAll(async () => {
  const start = async () =>
    stack.adopt(await startTestIssuer({ now: () => NOW }), (issuer) => issuer.close());
  const [main, partner] = [await start(), await start()];
  await partner.rotate();
  issuers = { main, partner };
  // No server listens on this port.
  const away = { settings: { ...main.settings, jwksUrl: 'http://127.0.0.1:9/keys' } };
  const open = ({ settings }: Pick<TestIssuer, 'settings'>, name: string) => {
    const only = { ...settings, name, tokenTypes: ['at+jwt'] };
    return [
      name,
      stack.adopt(createTokenVerifier(only, { now: () => NOW }), (each) => each.close()),
    ] as const;
  };
  const verifiers = new Map([open(main, 'main'), open(partner, 'partner'), open(away, 'away')]);
  const exchangeOf = (identities: readonly string[]) => {
    const rules = version({ access: { ...ACCESS, identities }, upstream });
    const current = plan([api([rules])]);
    return createExchange({
      ...quietPorts(
        () => current,
        () => NOW,
      ),
      guard: (_address, limit) => gcra(undefined, limit, 1, 0).taken,
      limiter: {
        take: (parts) =>
          parts.map(({ limit, cost, rule }) => ({
            kind: 'counted',
            limit,
            rule,
            ...gcra(undefined, limit, cost, 0).taken,
          })),
      },
      authenticators: new Map(
        [...verifiers].map(([name, each]) => [name, tokenAuthenticator(() => NOW, each)]),
      ),
    });
  };
  exchanges = {
    main: exchangeOf(['main']),
    both: exchangeOf(['main', 'partner']),
    away: exchangeOf(['away']),
  };
});
afterAll(() => stack.disposeAsync());

/** The status, and the refusal with the flaw of the token, or the fault. */
async function judge(request: ViewParts, asked: Asked): Promise<readonly [number, string]> {
  const exchange = exchanges[asked];
  const asking = view(request);
  const facts = exchange.begin(asking.requestId);
  try {
    const directive = await exchange.decide(asking, facts);
    if (directive.kind !== 'refuse') return [200, `${directive.kind} ${facts.decision.consumer?.id}`];
    const { status } = exchange.refuse(directive.refusal, facts, asking);
    return [status, facts.completion.tokenFlaw ?? directive.refusal.reason];
  } catch (thrown) {
    return [exchange.fail(thrown, facts, asking).status, facts.completion.fault?.code ?? ''];
  }
}

const line = (authorization: string): ViewParts => ({ headers: { authorization } });

describe('JWT-1 … JWT-8: the response to a token:', () => {
  const rows = TOKENS.map(([name, make, status, says, asked = 'main']) => ({
    name,
    make,
    status,
    says,
    asked,
  }));
  it.each(rows)('$name: $status $says', async ({ make, status, says, asked }) => {
    expect(await judge(line(`Bearer ${await make(issuers)}`), asked)).toEqual([status, says]);
  });
});

it('JWT-1: a token with one character changed, removed or inserted gets 401', async () => {
  const tokens = [await issuers.main.sign(), await issuers.main.sign({}, { alg: 'ES256' })];
  const edit = fc.record({
    token: fc.constantFrom(...tokens),
    at: fc.nat(),
    taken: fc.nat(1),
    put: fc.constantFrom('', ...`${ALPHABET}.`),
  });
  await fc.assert(
    fc.asyncProperty(edit, async ({ token, at, taken, put }) => {
      const from = at % token.length;
      const changed = token.slice(0, from) + put + token.slice(from + taken);
      fc.pre(changed !== token);
      expect((await judge(line(`Bearer ${changed}`), 'main'))[0]).toBe(401);
    }),
    { numRuns: 300 },
  );
});

describe('AUTH-1: the response to a request with its token:', () => {
  it.each(REQUESTS)('%s', async (_name, request, status, says) => {
    const token = await issuers.main.sign();
    const filled: ViewParts = JSON.parse(JSON.stringify(request).replaceAll('TOKEN', token));
    expect(await judge(filled, 'main')).toEqual([status, says]);
  });
});

describe('JWT-6: a bound token with', () => {
  it.each(BINDINGS)('%s', async (_name, cnf, clientCertificate, status, says) => {
    const request = { ...line(`Bearer ${await issuers.main.sign({ cnf })}`), clientCertificate };
    // The second request uses the cache, which must not reuse the certificate of another request.
    for (const shown of [request, { ...request, clientCertificate: undefined }, request])
      expect(await judge(shown, 'main')).toEqual(shown === request ? [status, says] : [401, 'binding']);
  });
});

it('the tables have more than two hundred rows', () => {
  const names = [TOKENS, REQUESTS, BINDINGS].map((table) => table.map(([name]) => name));
  for (const each of names) expect(new Set(each).size).toBe(each.length);
  expect(names.flat().length).toBeGreaterThan(200);
});
