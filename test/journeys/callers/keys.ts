// The life of an API key through the admin API and the command line, and the responses to wrong keys.
import { describe, expect, it } from 'vitest';
import { operate } from '../../support/command.ts';
import { type Answer, overHttp1 } from '../../support/http-client.ts';
import { AUTHOR, CHALLENGES, challengesOf, type Fixture, seen } from './fixture.ts';

export function keys({ ask, gateway, logged, makeKey, write }: Fixture): void {
  const overAdmin = async (path: string): Promise<Answer> => {
    await using admin = overHttp1(gateway().admin, { tls: false });
    return await admin.ask({ path });
  };

  describe('an API key', () => {
    it('AUTH-3: grants its scopes, and does not reach the upstream', async () => {
      const { secret } = await makeKey('acme', { scopes: ['orders:read'], contact: 'api@acme.example' });
      const answer = await ask('/api/v1/orders', { 'x-api-key': secret });
      expect(answer.status).toBe(200);
      expect(seen(answer, /key/i)).toEqual([]);
      expect(seen(answer, /^x.consumer/i)).toEqual([
        ['x-consumer-id', 'acme'],
        ['x-consumer-scopes', 'orders:read'],
      ]);
      expect(await logged(answer)).toMatchObject({ consumer: 'acme', status: 200 });
    });

    it('is shown once: no list, audit line or log line has it', async () => {
      const { secret, id } = await makeKey('globex', { expires: '2099-01-01' });
      const list = await overAdmin('/-/keys');
      expect(list.text).not.toContain(secret.slice(-39));
      expect(list.json.keys).toContainEqual(
        expect.objectContaining({ id, consumer: 'globex', state: 'active', expires: '2099-01-01T00:00:00Z' }),
      );
      await ask('/api/v1/orders', { 'x-api-key': secret });
      expect(gateway().log).toContainEqual(
        expect.objectContaining({
          message: 'admin write done',
          audit: expect.objectContaining({ action: 'add_key', subject: 'globex', ...AUTHOR }),
        }),
      );
      expect(gateway().logText()).not.toContain(secret.slice(-39));
    });

    it('is rotated with an overlap in which both keys work, and is revoked at once', async () => {
      const { secret, id } = await makeKey('initech', { scopes: ['orders:read'] });
      const asking = Array.from({ length: 40 }, () => ask('/api/v1/orders', { 'x-api-key': secret }));
      const rotated = await write({
        method: 'POST',
        path: `/-/keys/${id}/rotate`,
        body: { overlap: '1h', ...AUTHOR },
      });
      for (const { status } of await Promise.all(asking)) expect(status).toBe(200);
      expect(rotated.json.takenBy).toEqual(['news', 'orders']);
      const next = String(rotated.json.secret);
      expect(next).not.toBe(secret);
      for (const each of [secret, next])
        expect((await ask('/api/v1/orders', { 'x-api-key': each })).status).toBe(200);

      const revoked = await write({ method: 'DELETE', path: `/-/keys/${id}`, body: AUTHOR });
      expect(revoked.json).toMatchObject({ key: { id, state: 'revoked' } });
      for (const each of [secret, next]) {
        const answer = await ask('/api/v1/orders', { 'x-api-key': each });
        expect(answer.status).toBe(401);
        expect(await logged(answer)).toMatchObject({ refusal: 'key_invalid', key_flaw: 'revoked' });
      }
      const again = await write({ method: 'POST', path: `/-/keys/${id}/rotate`, body: AUTHOR });
      expect(again.status).toBe(409);
    });

    it('AUTH-2: is refused without the reason if it is wrong; the log has the reason', async () => {
      const { secret } = await makeKey('acme');
      const other = await makeKey('acme');
      const mistyped = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0');
      const mixed = [secret.slice(0, 17), other.secret.slice(17)].join('');
      for (const [key, flaw] of [
        ['sdl_secret', 'checksum'],
        [mistyped, 'checksum'],
        [mixed, 'checksum'],
      ] as const) {
        const answer = await ask('/api/v1/orders', { 'x-api-key': key });
        expect(answer).toMatchObject({ status: 401, json: { message: 'The API key is not valid.' } });
        expect(challengesOf(answer)).toEqual(CHALLENGES);
        expect(await logged(answer)).toMatchObject({ refusal: 'key_invalid', key_flaw: flaw });
      }
      const twice = await ask('/api/v1/orders', { 'x-api-key': [secret, secret] });
      expect(twice).toMatchObject({
        status: 400,
        json: { message: 'The X-API-Key header is malformed: send one line with one key.' },
      });
      expect(challengesOf(twice)).toEqual(CHALLENGES);
      expect(await logged(twice)).toMatchObject({ refusal: 'credentials_malformed' });
    });

    it('ORD-4: may be sent by allowed origins', async () => {
      const { headers } = await ask(
        '/api/v1/orders',
        {
          origin: 'https://app.example.com',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'x-api-key, x-evil',
        },
        { method: 'OPTIONS' },
      );
      expect(headers['access-control-allow-headers']).toBe('x-api-key');
    });

    it('AUTH-1: in the query gets 400, and is in no log', async () => {
      const { secret } = await makeKey('acme', { scopes: ['orders:read'] });
      const answer = await ask(`/api/v1/orders?api_key=${secret}`, { 'x-api-key': secret });
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain(secret);
      expect(await logged(answer)).toMatchObject({ refusal: 'credentials_in_url' });
      expect(gateway().logText()).not.toContain(secret);
    });

    it('is made, listed, rotated and revoked from the command line', async () => {
      const sundial = async (words: readonly string[], exitCode = 0) => {
        const environment = { SUNDIAL_ADMIN_TOKEN: await gateway().adminToken() };
        const admin = `http://127.0.0.1:${gateway().admin}`;
        const result = await operate(['keys', ...words, '-c', 'x', '--admin', admin], { environment });
        expect(result.exitCode).toBe(exitCode);
        if (exitCode !== 0) expect(result.stdout).toBe('');
        else if (words[0] === 'add') expect(result.stdout).toMatch(/^sdl_\w+\n$/);
        else expect(result.stderr).toBe('');
        return result.stdout + result.stderr;
      };
      const author = ['--by', AUTHOR.by, '--why', AUTHOR.why];
      const add = ['add', 'umbrella', '--scope', 'orders:read', ...author];
      const made = await sundial([...add, '--contact', 'api@umbrella.example', '--expires', '2099-01-01']);
      const wrong = await sundial([...add, '--scope', 'a"b', '--contact', 'nobody'], 1);
      expect(wrong).toBe(
        'sundial: --scope a"b: not a scope: no spaces, quotes or backslashes; --contact: not a mail address\n',
      );
      const [secret = '', , told = ''] = made.split('\n');
      const [, id = ''] = /^The key (\w+) of umbrella for orders:read\./.exec(told) ?? [];
      expect((await ask('/api/v1/orders', { 'x-api-key': secret })).status).toBe(200);

      const rotated = JSON.parse(await sundial(['rotate', id, '--overlap', '2h', '--json', ...author]));
      expect(rotated).toMatchObject({ key: { id, overlap: expect.any(String) } });
      expect((await ask('/api/v1/orders', { 'x-api-key': rotated.secret })).status).toBe(200);
      const list = await sundial(['list']);
      expect(list).toMatch(
        new RegExp(`^${id}  active   umbrella for orders:read, .*until 2099-01-01, api@umb`, 'm'),
      );
      expect(list).not.toContain(secret.slice(-39));
      expect(await sundial(['revoke', id, ...author])).toContain(`Revoked the key ${id} of umbrella`);
      expect((await ask('/api/v1/orders', { 'x-api-key': rotated.secret })).status).toBe(401);
      // The command line shows the admin paths in a message as the commands that request them.
      const listing = `sundial keys list -c x --admin http://127.0.0.1:${gateway().admin}`;
      expect(await sundial(['revoke', '0123456789ab', ...author], 1)).toContain(
        `There is no such key. ${listing} lists them`,
      );
      expect(await sundial(['revoke', id, ...author], 1)).toContain(
        'Create another key: sundial keys add <consumer> --why "…"',
      );
    });

    it.each([
      [{ consumer: 'acme' }, 400],
      [{ consumer: 'acme', scope: ['a'], ...AUTHOR }, 400],
      [{ consumer: 'acme', scopes: ['a b'], ...AUTHOR }, 400],
      [{ consumer: 'acme', contact: 'nobody', ...AUTHOR }, 400],
      [{ consumer: 'acme', contact: 'api\u202E@acme.example', ...AUTHOR }, 400],
      [{ consumer: 'acme', expires: '2020-01-01', ...AUTHOR }, 422],
    ])('is not created from the body %j', async (body, status) => {
      expect((await write({ method: 'POST', path: '/-/keys', body })).status).toBe(status);
    });

    it('is not found by anything but its id, such as the whole key', async () => {
      const { secret } = await makeKey('acme');
      for (const id of ['0000000000', secret, '0123456789ab'])
        expect((await write({ method: 'DELETE', path: `/-/keys/${id}`, body: AUTHOR })).status).toBe(404);
      expect(gateway().logText()).not.toContain(secret.slice(-39));
    });
  });
}
