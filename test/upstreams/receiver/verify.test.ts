// Tests of the verification of deliveries.
import { describe, expect, it } from 'vitest';
import {
  type Fields,
  verifyBodyOnly,
  verifyStandard,
  verifyTimed,
} from '../../../upstreams/receiver/verify.ts';
import type { Secret } from '../../../upstreams/webhooks/secret.ts';
import { signDelivery } from '../../../upstreams/webhooks/signature.ts';

const SECRET: Secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER: Secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const TIME = 1_614_265_330;
const NOW = TIME * 1_000;
const BODY = Buffer.from('{"id":"evt_1"}');
const sign = (secrets: readonly Secret[] = [SECRET]) =>
  signDelivery({ id: 'evt_1', timestamp: TIME, body: BODY, secrets, form: 'both' });

const WAYS = [
  ['webhook-signature', verifyStandard],
  ['x-webhook-signature', verifyTimed],
] as const;

describe.each(WAYS)('by %s', (field, verify) => {
  const signed = sign();
  const believed = (
    fields: Fields,
    { body = BODY, secrets = [SECRET] as readonly Secret[], now = NOW } = {},
  ) => verify(fields, body, secrets, now);

  it.each<[string, Fields, Parameters<typeof believed>[1]?]>([
    ['as it was signed', signed],
    ['five minutes later', signed, { now: NOW + 300_000 }],
    ['with a clock that is five minutes behind', signed, { now: NOW - 300_000 }],
    ['with two signatures of which the second is ours', sign([OTHER, SECRET])],
    ['with two known secrets', signed, { secrets: [OTHER, SECRET] }],
    [
      'beside a signature of an unknown version',
      {
        ...signed,
        [field]: field === 'webhook-signature' ? `v2,x ${signed[field]} v1a,y` : `${signed[field]},v2=x`,
      },
    ],
  ])('WH-4: is accepted %s', (_, fields, options) => {
    expect(believed(fields, options)).toBe(true);
  });

  it.each<[string, Fields, Parameters<typeof believed>[1]?]>([
    ['with another body', signed, { body: Buffer.from('{"id":"evt_2"}') }],
    ['with one byte more', signed, { body: Buffer.concat([BODY, Buffer.from('\n')]) }],
    ['that is too old', signed, { now: NOW + 301_000 }],
    ['from the future', signed, { now: NOW - 301_000 }],
    ['without the field', { ...signed, [field]: undefined }],
    ['with the field twice', { ...signed, [field]: [String(signed[field]), String(signed[field])] }],
    ['with an empty field', { ...signed, [field]: '' }],
    ['with another secret', signed, { secrets: [OTHER] }],
    ['without a known secret', signed, { secrets: [] }],
    ['with half a signature', { ...signed, [field]: signed[field]?.slice(0, -4) }],
    [
      'with a flipped character',
      {
        ...signed,
        [field]: signed[field]?.replace(/.(=?)$/, (end) => (end[0] === 'A' ? 'B' : 'A') + end.slice(1)),
      },
    ],
    ['under the name of another version', { ...signed, [field]: signed[field]?.replace('v1', 'v2') }],
    [
      'signed with the secret’s characters instead of its bytes',
      {
        ...signed,
        [field]: signed[field]?.replace(/v1(.).*/, 'v1$1TcxlhK9b6UD6iVI1ZU2tTqp8PEVfYRseNNfa6b+LcUg='),
      },
    ],
  ])('WH-4: is refused %s', (_, fields, options) => {
    expect(believed(fields, options)).toBe(false);
  });
});

describe('by the standard fields', () => {
  it.each<[string, Fields]>([
    ['without an id', { 'webhook-id': undefined }],
    ['with another id', { 'webhook-id': 'evt_2' }],
    ['without a time', { 'webhook-timestamp': undefined }],
    ['with another time', { 'webhook-timestamp': String(TIME + 1) }],
    ['with a time in words', { 'webhook-timestamp': 'now' }],
  ])('WH-4: is refused %s', (_, changed) => {
    expect(verifyStandard({ ...sign(), ...changed }, BODY, [SECRET], NOW)).toBe(false);
  });
});

describe('by the literal form', () => {
  const signed = signDelivery({
    id: 'evt_1',
    timestamp: TIME,
    body: BODY,
    secrets: [SECRET],
    form: 'body-only',
  });

  it('WH-1: the signature covers the whole body and nothing else', () => {
    expect(verifyBodyOnly(signed, BODY, [SECRET])).toBe(true);
    expect(verifyBodyOnly(signed, Buffer.from('{}'), [SECRET])).toBe(false);
    expect(verifyBodyOnly(sign(), BODY, [SECRET])).toBe(false);
    expect(verifyBodyOnly({}, BODY, [SECRET])).toBe(false);
  });

  it('throws for a malformed secret', () => {
    expect(() => verifyBodyOnly(signed, BODY, ['secret'])).toThrow('whsec_');
  });
});
