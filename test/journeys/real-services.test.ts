// A gateway before Express and Fastify, whose routers read paths otherwise than its policies (VER-7).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../paths/judged.ts';
import { type MountedGateway, mountGateway } from '../paths/mounted-gateway.ts';
import { MONO_ROUTES } from '../paths/routes.ts';
import { startExpress } from '../paths/services/express.ts';
import { startFastify } from '../paths/services/fastify.ts';
import type { PathService } from '../paths/services/path-service.ts';
import { spellingsOf } from '../paths/spellings.ts';
import { overHttp1 } from '../support/http-client.ts';

const CASES = { operations: 250, nested: 50 };
const SEED = Math.floor(Math.random() * 2 ** 31);
const WITH_PRESETS = ['express', 'fastify'];
const MOUNTED = [...WITH_PRESETS, 'express-without', 'fastify-without'];

const stack = new AsyncDisposableStack();
let gateway: MountedGateway;
let express: PathService;

beforeAll(async () => {
  express = stack.use(await startExpress());
  const fastify = stack.use(await startFastify());
  gateway = stack.use(
    await mountGateway([
      { label: 'express', url: express.url, extra: { paths: 'express' } },
      { label: 'fastify', url: fastify.url, extra: { paths: 'fastify' } },
      { label: 'express-without', url: express.url, extra: {} },
      { label: 'fastify-without', url: fastify.url, extra: {} },
    ]),
  );
});
afterAll(() => stack.disposeAsync());

describe.each(MOUNTED)('real services: %s', (label) => {
  it.each(['open', 'closed', 'mono'])(
    'in the API "%s", no spelling of a path bypasses a refusal of its plain form (VER-7)',
    async (name) => {
      const api = gateway.apis(label).find((each) => each.name === name);
      if (api === undefined) throw new Error(`no API ${name}`);
      const cases = api.routes === MONO_ROUTES ? CASES.nested : CASES.operations;
      const spellings = spellingsOf(api.routes, cases, SEED);
      const { leaks, unserved } = await judge(gateway.port, api, gateway.callers, spellings);
      expect({ seed: SEED, leaks, unserved }).toEqual({ seed: SEED, leaks: [], unserved: [] });
    },
  );

  it('an identifier with an encoded slash reaches its own handler (VER-7)', async () => {
    await using client = overHttp1(gateway.port);
    const [, caller] = gateway.callers;
    const path = `/${label}/open/items/group%2Fproject`;
    const { status, text } = await client.ask({ path, headers: caller?.headers ?? {} });
    expect([status, text.split(' ')[1]]).toEqual([200, 'item']);
  });
});

describe('real services: a method in a header', () => {
  const name = 'X-HTTP-Method-Override';
  const values = ['DELETE', 'delete', ' DELETE', 'DELETE, POST', ['DELETE', 'POST']];

  it.each(values.map((value) => [value]))(
    'Express deletes by %j, and the gateway refuses it',
    async (value) => {
      const ask = { method: 'POST', headers: { [name]: value } };
      await using direct = overHttp1(Number(new URL(express.url).port), { tls: false });
      expect((await direct.ask({ ...ask, path: '/items/7' })).text).toBe('reached removal by DELETE');
      await using client = overHttp1(gateway.port);
      const answer = await client.ask({ ...ask, path: '/express/open/items/7' });
      expect([answer.status, answer.text.includes('reached')]).toEqual([400, false]);
    },
  );
});
