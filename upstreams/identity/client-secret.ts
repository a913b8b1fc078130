// Compares client secrets by digest, and limits wrong attempts (OAU-5, OAU-9); replaces the comparison of oidc-provider.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Provider as ProviderType } from 'oidc-provider';
import { createAttempts } from '../service/attempts.ts';
import { errors, Provider } from './library.ts';
import { addressOf } from './peer.ts';

const MAX_ATTEMPTS = 10;
const WINDOW_MS = 60_000;

/** Answers 429 after ten wrong secrets of one client from one address within a minute. A right secret resets the count. */
export function limitSecretAttempts(provider: ProviderType, now: () => number): void {
  const attempts = createAttempts({ most: MAX_ATTEMPTS, windowMs: WINDOW_MS, now });
  Object.defineProperty(provider.Client.prototype, 'compareClientSecret', {
    value(this: { readonly clientId: string; readonly clientSecret?: string }, shown: string): boolean {
      const context = Provider.ctx;
      const key = `${this.clientId} ${context === undefined ? '' : addressOf(context.req)}`;
      const wait = attempts.take(key);
      if (wait !== undefined) {
        context?.set('Retry-After', String(wait));
        throw tooMany();
      }
      const digest = createHash('sha256').update(shown).digest();
      const matches = timingSafeEqual(digest, Buffer.from(this.clientSecret ?? '', 'base64url'));
      if (matches) attempts.reset(key);
      return matches;
    },
  });
}

function tooMany(): Error {
  const error = new errors.CustomOIDCProviderError(
    'temporarily_unavailable',
    'too many wrong secrets for this client; try again later',
  );
  return Object.assign(error, { status: 429, statusCode: 429 });
}
