// The identity that judges a request with several credentials. Other credentials are ignored.
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../../gateway/exchange/request-view.ts';
import { authenticate } from '../../../gateway/exchange/steps/authenticate.ts';
import type {
  AuthenticationResult,
  Authenticator,
  Consumer,
  IdentifiedRule,
} from '../../../gateway/policy/authentication/access.ts';
import { tokenAuthenticator } from '../../../gateway/policy/authentication/token-authenticator.ts';

const consumer = (id: string, via: Consumer['via']): AuthenticationResult => ({
  kind: 'consumer',
  consumer: { id, mayLabelMetrics: true, via, scopes: new Set(), claims: {} },
});
const calls: string[] = [];

/** Tokens are `<identity>.<good or bad>.x`. */
const tokens = (name: string): Authenticator =>
  tokenAuthenticator(() => 0, {
    claims: (token) => token.startsWith(`${name}.`),
    verify: (token) => {
      calls.push(name);
      return token === `${name}.good.x`
        ? consumer(name, 'token')
        : { kind: 'refused', refusal: { reason: 'token_invalid', description: name } };
    },
  });
const keys: Authenticator = {
  via: 'key',
  isPresent: ({ headers }) => headers.get('x-api-key') !== undefined,
  claims: () => true,
  judge: ({ headers }) => {
    calls.push('keys');
    switch (headers.get('x-api-key')) {
      case 'good':
        return consumer('keys', 'key');
      case undefined:
        return { kind: 'refused', refusal: { reason: 'credentials_missing' } };
      case 'away':
        return { kind: 'unavailable' };
      default:
        return { kind: 'refused', refusal: { reason: 'key_invalid', flaw: 'unknown' } };
    }
  },
};
const authenticators = new Map([
  ['a', tokens('a')],
  ['b', tokens('b')],
  ['keys', keys],
]);

async function callerOf(
  identities: readonly string[],
  { token, key, anonymous = false }: { token?: string; key?: string; anonymous?: boolean },
): Promise<string | undefined> {
  const access: IdentifiedRule = {
    kind: 'identified',
    ...{ identities, anonymous, vary: '', schemes: [], scopes: { read: [], write: [] } },
  };
  const headers = {
    ...(token !== undefined && { authorization: token }),
    ...(key !== undefined && { 'x-api-key': key }),
  };
  calls.length = 0;
  const caller = await authenticate(access, { headers: new RecordFields(headers) }, { authenticators });
  if (caller.kind === 'known') return caller.consumer?.id;
  const { refusal } = caller;
  return refusal.reason === 'token_invalid' ? `wrong ${refusal.description}` : refusal.reason;
}

const A = 'Bearer a.good.x';
const B = 'Bearer b.good.x';

describe('the caller', () => {
  it.each([
    [['a', 'keys'], { token: A, key: 'good' }, 'a', ['a']],
    [['keys', 'a'], { token: A, key: 'good' }, 'keys', ['keys']],
    [['keys', 'a'], { token: A }, 'a', ['a']],
    [['keys', 'a'], { token: A, key: 'wrong' }, 'key_invalid', ['keys']],
    [['a', 'keys'], { token: 'Bearer a.bad.x', key: 'good' }, 'wrong a', ['a']],
    [['a', 'keys'], { token: 'Bearer', key: 'good' }, 'credentials_malformed', []],
    // All identities accept only the scheme Bearer.
    [['a', 'keys'], { token: 'Basic eDp5', key: 'good' }, 'keys', ['keys']],
    [['a', 'keys'], {}, 'credentials_missing', []],
    [['keys'], {}, 'credentials_missing', ['keys']],
    [['a', 'b'], { token: B }, 'b', ['b']],
    [['a', 'keys', 'b'], { token: B, key: 'good' }, 'b', ['b']],
    [['a', 'b'], { token: 'Bearer c.good.x' }, 'wrong a', ['a']],
    // The key comes first in the order of the identities, so the token is ignored.
    [['keys', 'a', 'b'], { token: B, key: 'good' }, 'keys', ['keys']],
  ] as const)('with identities %j and credentials %j is %s', async (identities, shown, who, were) => {
    expect(await callerOf(identities, shown)).toBe(who);
    expect(calls).toEqual(were);
  });

  it('needs a credential, unless anonymous callers are allowed', async () => {
    for (const identities of [['a'], ['keys'], ['a', 'keys']]) {
      expect(await callerOf(identities, { anonymous: true })).toBeUndefined();
      expect(calls).toEqual([]);
    }
    expect(await callerOf(['keys'], { anonymous: true, key: 'wrong' })).toBe('key_invalid');
    expect(await callerOf(['a'], { anonymous: true, token: 'Bearer a.bad.x' })).toBe('wrong a');
  });

  it('JWT-4: with a credential that cannot be judged is a fault, even beside a valid token', async () => {
    await expect(callerOf(['keys', 'a'], { key: 'away', token: A })).rejects.toMatchObject({
      code: 'identity_unavailable',
    });
  });
});
