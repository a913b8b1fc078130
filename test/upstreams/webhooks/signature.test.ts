// Tests of the signature of deliveries and of sealed secrets.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, it } from 'vitest';
import {
  loadSealingKey,
  makeSecret,
  openSecret,
  type Secret,
  sealSecret,
} from '../../../upstreams/webhooks/secret.ts';
import { signDelivery } from '../../../upstreams/webhooks/signature.ts';
import { signingSecrets, withSecret } from '../../../upstreams/webhooks/subscription.ts';
import { subscriptionOf } from '../../contracts/webhook-store.ts';

const SECRET: Secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OF_VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: Buffer.from('{"test": 2432232314}'),
} as const;

const folder = mkdtempSync(join(tmpdir(), 'sundial-secret-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a signed delivery', () => {
  it('WH-1: has the Standard Webhooks fields and the specification’s, with the same time', () => {
    expect(signDelivery({ ...OF_VECTOR, secrets: [SECRET], form: 'both' })).toEqual({
      'webhook-id': OF_VECTOR.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      'x-webhook-signature':
        't=1614265330,v1=e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef',
    });
  });

  it('WH-1: in the literal form has the hex HMAC of the whole body', () => {
    const signed = signDelivery({ ...OF_VECTOR, secrets: [SECRET], form: 'body-only' });
    const later = signDelivery({ ...OF_VECTOR, timestamp: 1, secrets: [SECRET], form: 'body-only' });
    expect(signed['x-webhook-signature']).toBe(
      'e2cb4f5251572539d458bfb8a7adb533b08801e6a794467e06f771debbb0818b',
    );
    expect(later['x-webhook-signature']).toBe(signed['x-webhook-signature']);
  });

  it('WH-2: is signed by both secrets during a rotation, the newest first', () => {
    const next = makeSecret();
    const signed = signDelivery({ ...OF_VECTOR, secrets: [next, SECRET], form: 'both' });
    expect(signed['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(signed['webhook-signature']).toMatch(/ v1,g0hM9SsE\+OTPJTGt\/tmIKtSyZlE3uFJELVlNIOLJ1OE=$/);
    expect(signed['x-webhook-signature']).toMatch(/^t=1614265330,v1=[0-9a-f]{64},v1=e96203c6[0-9a-f]{56}$/);
  });

  it.each([['the only'], ['the older'], ['the newer']])(
    'WH-3: is verified by the stock library with %s secret',
    (which) => {
      const [newer, older] = [makeSecret(), makeSecret()];
      const secrets = which === 'the only' ? [newer] : [newer, older];
      const timestamp = Math.floor(Date.now() / 1000);
      const body = Buffer.from(
        '{"id":"evt_1","type":"order.created","created":1,"data":{"name":"Ångström \\u2028"}}',
      );
      const headers = signDelivery({ id: 'evt_1', timestamp, body, secrets, form: 'both' });
      const library = new Webhook(which === 'the older' ? older : newer);
      expect(library.verify(body, { ...headers })).toMatchObject({ id: 'evt_1' });
      expect(() => library.verify(Buffer.concat([body, Buffer.from(' ')]), { ...headers })).toThrow();
    },
  );
});

describe('overlapping secrets', () => {
  const first = subscriptionOf('wh_1', { secrets: [{ sealed: 'a' }] });
  const rotate = (from: typeof first, sealed: string, now: number, overlapMs: number) =>
    withSecret(from, sealed, { now, overlapMs });

  it('WH-2: sign until their overlap expires, which a later rotation may shorten but not extend', () => {
    const second = rotate(first, 'b', 0, 100);
    expect(second.secrets).toEqual([{ sealed: 'b' }, { sealed: 'a', until: 100 }]);
    const untils = (overlapMs: number) =>
      rotate(second, 'c', 50, overlapMs).secrets.map(({ until }) => until);
    expect(untils(500)).toEqual([undefined, 550, 100]);
    expect(untils(10)).toEqual([undefined, 60, 60]);
    expect(signingSecrets(second, 99)).toHaveLength(2);
    expect(signingSecrets(second, 100)).toEqual([{ sealed: 'b' }]);
  });

  it('are at most four, the newest', () => {
    const many = ['b', 'c', 'd', 'e', 'f'].reduce((from, sealed) => rotate(from, sealed, 0, 1_000), first);
    expect(many.secrets.map(({ sealed }) => sealed)).toEqual(['f', 'e', 'd', 'c']);
  });
});

describe('a secret', () => {
  it('WH-2: is whsec_ and base64 of 32 random bytes, a new one each time', () => {
    const made = makeSecret();
    expect(made).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(makeSecret()).not.toBe(made);
  });

  it('WH-2: is stored sealed: the same secret looks different each time, and opens only with its key', () => {
    const key = randomBytes(32);
    const sealed = sealSecret(key, SECRET);
    expect(sealed).not.toContain(SECRET.slice('whsec_'.length));
    expect(sealSecret(key, SECRET)).not.toBe(sealed);
    expect(openSecret(key, sealed)).toBe(SECRET);
    expect(openSecret(randomBytes(32), sealed)).toBeUndefined();
    expect(openSecret(key, 'short')).toBeUndefined();
    const damaged = Buffer.from(sealed, 'base64');
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    expect(openSecret(key, damaged.toString('base64'))).toBeUndefined();
  });

  it('is sealed with a key in a file of its owner, the same after a restart', () => {
    const key = loadSealingKey(join(folder, 'data'));
    const file = join(folder, 'data', 'webhooks-key');
    expect(key).toHaveLength(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(loadSealingKey(join(folder, 'data'))).toEqual(key);
    expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toEqual(key);
    writeFileSync(file, 'short');
    expect(() => loadSealingKey(join(folder, 'data'))).toThrow('contains no key of 32 bytes');
  });
});
