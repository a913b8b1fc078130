// Opaque tokens while the introspection endpoint fails: verdicts, circuit breaker and cache.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answering,
  good,
  type IntrospectionEndpoint,
  kindOf,
  openEndpoint,
  SECOND,
  says,
} from './introspection-endpoint.ts';

let endpoint: IntrospectionEndpoint;
beforeAll(async () => {
  endpoint = await openEndpoint();
});
afterAll(() => endpoint[Symbol.asyncDispose]());
afterEach(() => endpoint.reset());

describe('a failing introspection endpoint', () => {
  it.each<[string, Answering, RegExp]>([
    [
      'rejects the credentials of the gateway',
      (_, response) => response.writeHead(401).end('{"active":true}'),
      /status 401/,
    ],
    ['fails', (_, response) => response.writeHead(500).end('{"active":true}'), /status 500/],
    ['redirects', (_, response) => response.writeHead(307, { location: '/' }).end(), /redirect/],
    ['closes the connection', (_, response) => response.destroy(), /./],
    ['responds with HTML', (_, response) => response.end('<html>'), /JSON/],
    [
      'responds with a JSON array',
      (_, response) => response.end('[{"active":true}]'),
      /whether the token is active/,
    ],
    ['sends active as text', says({ active: 'true' }), /whether the token is active/],
    ['omits active', says({ active: undefined }), /whether the token is active/],
    [
      'responds with invalid UTF-8',
      (_, response) => response.end(Buffer.from('7b22616374697665223a747275652c2261223a22ff227d', 'hex')),
      /./,
    ],
    ['responds with more than 64 KiB', says({ note: ' '.repeat(64 * 1024) }), /larger/],
    ['does not respond', () => undefined, /timeout/],
    ['never ends its response', (_, response) => response.write('{'), /timeout/],
  ])('that %s: a token is unavailable, not refused, and nothing is cached', async (_name, fault, reason) => {
    endpoint.answer = fault;
    const verifier = endpoint.verifierOf({}, reason.source === 'timeout' ? { timeout: 400 } : {});
    expect(await kindOf(verifier, 'abc')).toBe('unavailable');
    expect(endpoint.told).toEqual([expect.stringMatching(reason)]);
    expect(endpoint.told.join()).not.toMatch(/canary|Basic/);
    endpoint.answer = says({});
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
    expect(endpoint.told.at(-1)).toBeUndefined();
  });

  it('gets one request in five seconds after three failures', async () => {
    endpoint.answer = (_, response) => response.writeHead(503).end();
    const verifier = endpoint.verifierOf();
    for (let count = 0; count < 50; count += 1)
      expect(await kindOf(verifier, `token-${count}`)).toBe('unavailable');
    expect(endpoint.asked).toHaveLength(3);
    for (let round = 1; round <= 3; round += 1) {
      endpoint.now += 5 * SECOND;
      const kinds = await Promise.all(
        Array.from({ length: 20 }, (_, each) => kindOf(verifier, `${round}-${each}`)),
      );
      expect(new Set(kinds)).toEqual(new Set(['unavailable']));
      expect(endpoint.asked).toHaveLength(3 + round);
    }
    endpoint.answer = says({});
    endpoint.now += 5 * SECOND;
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
    expect(await kindOf(verifier, 'abd')).toBe('consumer');
  });

  it.each<[string, Answering]>([
    ['gets status 400', (_, response) => response.writeHead(400).end()],
    ['gets status 404', (_, response) => response.writeHead(404).end()],
    ['gets a response of more than 64 KiB', says({ note: ' '.repeat(64 * 1024) })],
    ['gets an HTML page', (_, response) => response.end('<html>')],
    ['gets a response without active', says({ active: undefined })],
  ])('does not affect other tokens if one token %s', async (_name, odd) => {
    endpoint.answer = (form, ...rest) =>
      form.token?.startsWith('odd') ? odd(form, ...rest) : says({})(form, rest[0]);
    const verifier = endpoint.verifierOf();
    for (let count = 0; count < 6; count += 1)
      expect(await kindOf(verifier, `odd-${count}`)).toBe('unavailable');
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
    expect(endpoint.asked).toHaveLength(7);
  });

  it.each([401, 403, 429, 500, 503])(
    'with status %i gets no more requests after three of them',
    async (status) => {
      endpoint.answer = (_, response) => response.writeHead(status).end();
      const verifier = endpoint.verifierOf();
      for (let count = 0; count < 6; count += 1) await verifier.verify(`token-${count}`);
      expect(endpoint.asked).toHaveLength(3);
    },
  );

  it('gets requests again after the clock was set back by a year', async () => {
    endpoint.answer = (_, response) => response.writeHead(503).end();
    const verifier = endpoint.verifierOf();
    for (let count = 0; count < 4; count += 1) await verifier.verify('abc');
    endpoint.answer = says({});
    endpoint.now -= 365 * 86_400 * SECOND;
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
  });

  it('does not affect cached tokens', async () => {
    const verifier = endpoint.verifierOf();
    await verifier.verify('abc');
    endpoint.answer = (_, response) => response.writeHead(503).end();
    for (let count = 0; count < 5; count += 1) await verifier.verify(`token-${count}`);
    expect(verifier.verify('abc')).toMatchObject({ kind: 'consumer' });
  });

  it('gets at most 256 requests at once', async () => {
    const held: ServerResponse[] = [];
    const { promise: full, resolve } = Promise.withResolvers<void>();
    endpoint.answer = (_, response) => {
      if (held.push(response) === 256) resolve();
    };
    const verifier = endpoint.verifierOf({}, { timeout: 60_000 });
    const all = Array.from({ length: 300 }, (_, each) => kindOf(verifier, `token-${each}`));
    await full;
    for (const response of held) response.end(JSON.stringify(good()));
    const kinds = await Promise.all(all);
    expect(kinds.filter((kind) => kind === 'consumer')).toHaveLength(256);
    expect(kinds.slice(256)).toEqual(Array.from({ length: 44 }, () => 'unavailable'));
  });

  it('is not waited for after close, and close reports no failure', async () => {
    endpoint.answer = () => undefined;
    const verifier = endpoint.verifierOf();
    const waiting = kindOf(verifier, 'abc');
    verifier.close();
    expect(await waiting).toBe('unavailable');
    expect(endpoint.told).toEqual([]);
  });
});
