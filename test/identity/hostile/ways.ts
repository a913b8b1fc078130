// Makes tokens with one flaw each, by the trusted issuer or another one, for the tables beside this file.
import { createHmac, createPublicKey } from 'node:crypto';
import { NOW } from '../../support/exchange-samples.ts';
import type { TestIssuer } from '../../support/issuer.ts';

export interface Issuers {
  readonly main: TestIssuer;
  /** Trusted only by the API `both`. Its keys have been rotated once. */
  readonly partner: TestIssuer;
}

/** The API to call: with one issuer, two issuers, or one that is down. */
export type Asked = 'main' | 'both' | 'away';
export type Make = (issuers: Issuers) => string | Promise<string>;
/** `says`: the flaw of the token, the refusal, the fault, or the admitted consumer. */
export type HostileToken = readonly [name: string, make: Make, status: number, says: string, asked?: Asked];

/** The consumer that is admitted. */
export const PASS = 'forward acme';
export const T = NOW / 1000;
/** Of base64url. */
export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

export const base64url = (value: string | Uint8Array) => Buffer.from(value).toString('base64url');
export const json = (value: unknown) => base64url(JSON.stringify(value));
export const partsOf = (token: string) => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return { header, payload, signature };
};

type Members = Readonly<Record<string, unknown>>;
/** Calls functions once the keys exist. */
const had = (members: Members, issuers: Issuers): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === 'function' ? value(issuers) : value,
    ]),
  );

export const claims =
  (over: object, header: Members = {}): Make =>
  (issuers) =>
    issuers.main.sign({ ...over }, had(header, issuers));
export const header = (over: Members): Make => claims({}, over);

const named = ({ main }: Issuers) => ({
  ...{ iss: main.url, aud: 'sundial-samples', sub: 'acme', client_id: 'acme' },
});
/** The valid claims as text, followed by `more`. */
export const claimsText =
  (more: string): Make =>
  (issuers) => {
    const text = JSON.stringify({ ...named(issuers), iat: T, exp: T + 600, scope: 'orders:read' });
    return issuers.main.sign(`${text.slice(0, -1)}${more}}`);
  };
export const bareClaims =
  (times: string): Make =>
  (issuers) =>
    issuers.main.sign(`${JSON.stringify(named(issuers)).slice(0, -1)},${times}}`);
export const filledClaims = (issuers: Issuers, padding: number): string => {
  const good = { ...named(issuers), scope: 'orders:read', iat: T, exp: T + 600 };
  return JSON.stringify({ ...good, note: 'n'.repeat(padding) });
};
export const headerWith = (more: string) => `{"alg":"RS256","kid":"rs256-1","typ":"at+jwt"${more}}`;
export const headerText =
  (more: string): Make =>
  ({ main }) =>
    main.sign({}, headerWith(more));

type Spoil = (parts: ReturnType<typeof partsOf>, token: string, issuers: Issuers) => string;
export const spoilt =
  (spoil: Spoil, alg = 'RS256'): Make =>
  async (issuers) => {
    const token = await issuers.main.sign({}, { alg });
    const hostile = spoil(partsOf(token), token, issuers);
    if (hostile === token) throw new Error('nothing was spoilt');
    return hostile;
  };
export const signature = (change: (good: Buffer) => Uint8Array, alg = 'ES256'): Make =>
  spoilt((parts) => {
    const changed = change(Buffer.from(parts.signature, 'base64url'));
    return `${parts.header}.${parts.payload}.${base64url(changed)}`;
  }, alg);
export const unsigned = (alg: string, mark: string): Make =>
  spoilt(({ payload }) => `${json({ alg, typ: 'at+jwt' })}.${payload}.${mark}`);
/** Signed by HMAC with a public value as the secret. */
export const keyed = (secretOf: (pem: string, jwk: object) => string | Buffer, over: object = {}): Make =>
  spoilt(({ payload }, _token, { main }) => {
    const [jwk = {}] = main.publicKeys();
    const pem = createPublicKey({ key: jwk, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString();
    const input = `${json({ alg: 'HS256', typ: 'at+jwt', kid: 'rs256-1', ...over })}.${payload}`;
    return `${input}.${createHmac('sha256', secretOf(pem, jwk)).update(input).digest('base64url')}`;
  });
/** Signed by a key of the other issuer, with any header. */
export const attacker =
  (over: Members, claimed: Members = {}): Make =>
  (issuers) =>
    issuers.partner.sign({ iss: issuers.main.url, ...claimed }, { kid: 'rs256-1', ...had(over, issuers) });
export const offeredJwk = ({ partner }: Issuers) => partner.publicKeys()[0];
