// API keys in the admin API and the command: keys that no API accepts, and who may see keys.
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { decideAccess } from '../../gateway/admin/access.ts';
import { keyRoutes } from '../../gateway/admin/keys.ts';
import { readNewKeyAnswer } from '../../gateway/api/admin-answers.ts';
import { type ApiCall, failure } from '../../gateway/cli/admin-call.ts';
import { addKeyCommands } from '../../gateway/cli/keys/command.ts';
import { madeText } from '../../gateway/cli/keys/keys-text.ts';
import { createOperationTable } from '../../gateway/plan/routes/operation-table.ts';
import type { AccessRule } from '../../gateway/policy/authentication/access.ts';
import type { KeyRecord } from '../../gateway/policy/authentication/key-record.ts';
import { createKeyCache } from '../../gateway/stores/key-cache.ts';
import { ACCESS, api, NOW, version } from '../support/exchange-samples.ts';

const scoped = (read: readonly string[], write: readonly string[] = []): AccessRule => ({
  ...ACCESS,
  scopes: { read, write },
});
/** Scopes of the API, of a version, of an operation. */
const APIS = [
  { ...api(), access: scoped(['orders:read'], ['orders:write']) },
  {
    ...api([
      version({
        access: scoped(['v1:read']),
        operations: createOperationTable([
          {
            template: { method: 'GET', segments: [{ kind: 'literal', text: 'search' }] },
            rules: version({ access: scoped(['search']) }),
          },
        ]),
      }),
    ]),
    name: 'news',
  },
];

function routesOf(keyHeaders: readonly string[]) {
  const kept = new Map<string, KeyRecord>();
  return keyRoutes({
    keys: {
      find: () => ({ kind: 'unknown' }),
      read: async (id) => kept.get(id),
      endUnreadable: async () => undefined,
      list: async () => [...kept.values()],
      replace: async (_current, next) => kept.set(next.id, next).size > 0,
    },
    plan: () => ({
      apis: APIS.slice(0, keyHeaders.length === 0 ? 1 : 2).map((each) => ({ ...each, keyHeaders })),
    }),
    wallClock: () => NOW,
  });
}

async function added(keyHeaders: readonly string[], scopes: readonly string[] = ['orders:read']) {
  const route = routesOf(keyHeaders).find(({ method, path }) => method === 'POST' && path === '/-/keys');
  if (route?.method !== 'POST') throw new Error('no route');
  const body = { consumer: 'acme', scopes, by: 'alice', why: 'contract 4711' };
  const { answer } = await route.perform({
    ...{ parameter: () => '', query: new URLSearchParams(), accept: undefined, body },
  });
  return readNewKeyAnswer(JSON.parse(String(answer.body)));
}

describe('a new key', () => {
  it.each([
    ['has no warning if an API accepts keys', ['x-api-key'], ['orders', 'news'], false],
    ['has a warning if no API accepts keys', [], [], true],
  ])('%s', async (_when, headers, takenBy, warns) => {
    const answer = await added(headers);
    expect(answer?.takenBy).toEqual(takenBy);
    const text = answer && madeText(answer, (...words) => `sundial ${words.join(' ')}`);
    expect(text).not.toContain(answer?.secret);
    expect(text?.includes('Warning: no API accepts API keys, so this key has no effect.')).toBe(warns);
    expect(text?.includes('restart the gateway')).toBe(warns);
  });

  it.each([
    ['a scope of an API, its version and its operation', ['orders:write', 'v1:read', 'search'], undefined],
    ['no scopes', [], undefined],
    ['a misspelt scope', ['orders:raed'], 'no policy names the scope orders:raed.'],
    ['another case', ['Orders:read', 'orders:read'], 'no policy names the scope Orders:read.'],
    [
      'several scopes in one',
      ['orders:read,orders:write'],
      'no policy names the scope orders:read,orders:write.',
    ],
    ['two unknown scopes', ['a', 'search', 'b'], 'no policy names the scopes a, b.'],
  ])('with %s warns only of scopes that no policy names', async (_what, scopes, warning) => {
    const answer = await added(['x-api-key'], scopes);
    const text = (answer && madeText(answer, () => '')) ?? '';
    if (warning === undefined) expect(text).not.toContain('Warning');
    else expect(text).toContain(`Warning: ${warning}`);
  });

  it('of an older gateway has no warning', async () => {
    const { takenBy: _, unknownScopes: __, ...older } = (await added([])) ?? {};
    const answer = readNewKeyAnswer(older);
    expect(answer && madeText(answer, () => '')).not.toContain('Warning');
  });
});

describe('a key whose record cannot be read', () => {
  const ID = '0123456789ab';
  const texts = new Map([[ID, '{"id":"0123456789ab","consumer":"acme","secrets":"of a later form"}']]);
  const keys = createKeyCache(
    {
      find: async (id) => texts.get(id),
      list: async () => [...texts.values()],
      replace: async (id, current, next) => texts.get(id) === current && texts.set(id, next).size > 0,
    },
    () => undefined,
  );
  const routes = keyRoutes({ keys, plan: () => ({ apis: [] }), wallClock: () => NOW });
  const body = { by: 'alice', why: 'leaked' };
  const asked = { parameter: () => ID, query: new URLSearchParams(), accept: undefined, body };
  const write = async (action: string) => {
    const route = routes.find((each) => 'action' in each && each.action === action);
    if (route === undefined || !('perform' in route)) throw new Error('no route');
    return route.perform(asked);
  };

  it('cannot be shown or rotated, but can be revoked', async () => {
    const shown = routes.find(({ path, method }) => path === '/-/keys/{id}' && method === 'GET');
    if (shown === undefined || !('show' in shown)) throw new Error('no route');
    const first = [await shown.show(asked), (await write('rotate_key')).answer];
    for (const { status, body: text } of first) {
      expect(status).toBe(409);
      expect(JSON.parse(text).message).toMatch(/cannot read the record.*Revoke it/);
    }
    const { answer, audit } = await write('revoke_key');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).key).toMatchObject({ id: ID, consumer: 'acme', state: 'revoked' });
    expect(audit).toMatchObject({ subject: ID, by: 'alice', why: 'leaked', after: { id: ID } });
    expect((await write('revoke_key')).answer.status).toBe(409);
    expect(await keys.list()).toMatchObject([{ id: ID, revoked: NOW }]);
  });
});

describe('the list of keys', () => {
  const ask = (exposed: boolean, fields: Readonly<Record<string, string>> = {}, host = '127.0.0.1') =>
    ['/-/keys', '/-/keys/0123456789ab'].map((url) => {
      const entry = decideAccess(
        {
          ...{ routes: routesOf([]), boundHost: '127.0.0.1', anyHost: false, exposed },
          hasToken: (authorization) => authorization === 'Bearer token',
        },
        { method: 'GET', url, hosts: 1, headers: { host, ...fields } },
      );
      return entry.kind === 'admitted' ? 200 : entry.answer.status;
    });

  it('is readable on loopback, and elsewhere only with the token', () => {
    expect(ask(false)).toEqual([200, 200]);
    expect(ask(false, {}, 'rebound.example')).toEqual([421, 421]);
    expect(ask(true)).toEqual([401, 401]);
    expect(ask(true, { authorization: 'Bearer token' })).toEqual([200, 200]);
  });
});

describe('keys add', () => {
  const scopesOf = async (words: readonly string[]): Promise<readonly string[] | string> => {
    let asked: ApiCall | undefined;
    let complaint = '';
    const program = new Command('sundial').exitOverride().configureOutput({
      writeErr: (text) => {
        complaint += text;
      },
    });
    addKeyCommands(program, {
      end: async (result) => void (await result),
      openGateway: async ({ format }) => ({
        ask: async (request) => {
          asked = request;
          return failure(3, 'no gateway');
        },
        readiness: async () => failure(3, 'no gateway'),
        format,
        next: (...words) => words.join(' '),
      }),
    });
    const rest = ['--why', 'x', '--by', 'alice'];
    await program
      .parseAsync(['keys', 'add', 'acme', ...words, ...rest], { from: 'user' })
      .catch(() => undefined);
    return (asked?.body?.scopes as readonly string[] | undefined) ?? complaint;
  };

  it.each([
    [
      ['--scope', 'a,b'],
      ['a', 'b'],
    ],
    [
      ['--scope', 'a b'],
      ['a', 'b'],
    ],
    [
      ['--scope', ' a , b,,c\t'],
      ['a', 'b', 'c'],
    ],
    [
      ['--scope', 'a', '--scope', 'b,c'],
      ['a', 'b', 'c'],
    ],
    [['--scope=a,b'], ['a', 'b']],
    [[], []],
  ])('sends the scopes of %j', async (words, scopes) => expect(await scopesOf(words)).toEqual(scopes));

  it.each([[''], [','], ['  ']])('a list without a scope, %j, is wrong usage', async (text) => {
    expect(await scopesOf(['--scope', text])).toContain('The value names no scope.');
  });
});
