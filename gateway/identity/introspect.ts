// Asks an issuer whether a token is active (RFC 7662), and limits the calls per client address.
import type { IntrospectionIdentity } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createRecentMap } from '../policy/recent-map.ts';
import { isRecord, issuerAddress, readResponse, UnusableResponse } from './issuer-request.ts';

/** Bytes of a response after decompression. A larger one is a failure. */
const MAX_BYTES = 64 * 1024;

export type Introspect = (token: string, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

/**
 * Rejects with an Error unless the response follows RFC 7662 §2.2: status 200, no redirect, not too large, with a boolean
 * `active`. A 401 is about the gateway's own credentials, not about the token. @throws TypeError if tokens may not be sent
 * to the endpoint.
 */
export function createIntrospect(
  { endpoint, client }: Pick<IntrospectionIdentity, 'endpoint' | 'client'>,
  fetcher: typeof fetch,
): Introspect {
  const address = issuerAddress(endpoint);
  // RFC 6749 §2.3.1: both are form-encoded before they are joined.
  const credentials = Buffer.from(`${formEncoded(client.id)}:${formEncoded(client.secret)}`);
  const headers = { accept: 'application/json', authorization: `Basic ${credentials.toString('base64')}` };
  return async (token, signal) => {
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' });
    const send = () => fetcher(address, { method: 'POST', redirect: 'error', headers, body, signal });
    const response = await send().catch((error: unknown) => {
      if (hasConnectionClosed(error)) return send();
      throw error;
    });
    const answer = await readResponse(response, 'introspection', MAX_BYTES);
    if (isRecord(answer) && typeof answer.active === 'boolean') return answer;
    throw new UnusableResponse(200, 'the introspection response does not say whether the token is active');
  };
}

/**
 * Whether the endpoint itself failed: no response, 5xx, 429, or refused gateway credentials. Any other failure may be
 * caused by the token, which the client chose.
 */
export function isEndpointFailure(error: unknown): boolean {
  if (!(error instanceof UnusableResponse)) return true;
  const { status } = error;
  return status >= 500 || status === 401 || status === 403 || status === 429;
}

/**
 * A pooled connection may close just as a request is sent. `fetch` does not retry a POST, but introspection is safe to
 * repeat (RFC 9110 §9.2.2).
 */
function hasConnectionClosed(error: unknown): boolean {
  const cause = error instanceof TypeError ? error.cause : undefined;
  return (
    cause instanceof Error &&
    'code' in cause &&
    /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(String(cause.code))
  );
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** At least half of them are kept. An evicted address gets a whole budget again. */
const MAX_ADDRESSES = 20_000;
const MAX_CHARACTERS = 1_000_000;

const BUDGET = { units: 60, windowMs: 60_000 };

interface Spent {
  readonly units: number;
  readonly at: EpochMs;
}

/** RL-7: how many invalid tokens each client address may have introspected. */
interface TokenBudget {
  /** Takes one unit. Otherwise returns the seconds until one is available. */
  readonly take: (address: string) => number | undefined;
  /** For a valid token, or one without a result. */
  readonly giveBack: (address: string) => void;
}

export function createTokenBudget(now: () => EpochMs): TokenBudget {
  const { units, windowMs } = BUDGET;
  const spentBy = createRecentMap<Spent>(MAX_ADDRESSES, MAX_CHARACTERS);

  const spentUnits = (address: string): number => {
    const last = spentBy.get(address);
    const elapsed = last === undefined ? Number.POSITIVE_INFINITY : now() - last.at;
    // A clock that was set back must not refuse anything.
    if (last === undefined || elapsed < 0) return 0;
    return Math.max(0, last.units - (elapsed * units) / windowMs);
  };

  return {
    take(address) {
      const after = spentUnits(address) + 1;
      if (after > units) return Math.max(1, Math.ceil(((after - units) * windowMs) / units / 1_000));
      spentBy.set(address, { units: after, at: now() });
      return undefined;
    },
    giveBack(address) {
      spentBy.set(address, { units: Math.max(0, spentUnits(address) - 1), at: now() });
    },
  };
}
