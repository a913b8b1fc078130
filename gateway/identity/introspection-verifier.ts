// Verifies tokens by introspection, with a circuit breaker, a budget per address and a cache.
import type { IntrospectionIdentity } from '../plan/settings.ts';
import { consumerFrom, LEEWAY } from '../policy/authentication/consumer.ts';
import { bindingOf } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createIntrospect, createTokenBudget, isEndpointFailure } from './introspect.ts';
import { reasonOf } from './issuer-request.ts';
import {
  createTokenCache,
  expired,
  type IdentityVerifier,
  invalid,
  known,
  permanent,
  type TokenVerdict,
  transient,
  type Verification,
} from './token-cache.ts';
import { type IssuerOf, issuerOf } from './token-shape.ts';

/** Milliseconds, body included. A request waits for it. */
const TIMEOUT = 3_000;

export interface IntrospectionOptions {
  /** The real clock, never the lifecycle clock. */
  readonly now: () => EpochMs;
  readonly issuerOf?: IssuerOf;
  readonly fetch?: typeof fetch;
  /** Milliseconds for one introspection. Default: 3 s. */
  readonly timeout?: number;
  /** Called after each introspection: the failure for operators, or undefined. */
  readonly report?: (failure: string | undefined) => void;
}

/** Introspection uses no keys, so its results never become stale by a new key set. */
const GENERATION = 0;
const UNAVAILABLE: Verification = { ...transient({ kind: 'unavailable' }), generation: GENERATION };

/** JWT-5: members in which servers name the kind of a token. A refresh token is active too. */
const KIND_MEMBERS = ['token_type', 'token_use', 'typ'];
const ACCESS_KINDS = /^(?:bearer|access_token|(?:application\/)?(?:at\+)?jwt)$/i;

/** Consecutive failures that open the circuit breaker. */
const FAILURES = 3;
/** Milliseconds until one introspection tries the endpoint again. */
const COOLDOWN = 5_000;
/** Most introspections at the same time, so that a flood of invented tokens does not reach the endpoint. */
const MAX_CONCURRENT = 256;

/**
 * Verifies by introspection (RFC 7662). Without a response a token is `unavailable`. @throws TypeError if tokens may not be
 * sent to `settings.endpoint`.
 */
export function createIntrospectionVerifier(
  settings: IntrospectionIdentity,
  {
    now,
    issuerOf: readIssuer = issuerOf,
    fetch: fetcher = fetch,
    timeout = TIMEOUT,
    report,
  }: IntrospectionOptions,
): IdentityVerifier {
  const introspect = createIntrospect(settings, fetcher);
  const breaker = createCircuitBreaker(now, isEndpointFailure);
  const budget = createTokenBudget(now);
  const closing = new AbortController();

  const introspectThroughBreaker = async (
    call: () => ReturnType<typeof introspect>,
  ): Promise<Verification> => {
    try {
      const answer = await breaker(call);
      if (answer === undefined) return UNAVAILABLE;
      report?.(undefined);
      return { ...judgeIntrospection(answer, settings, now()), generation: GENERATION };
    } catch (error) {
      if (!closing.signal.aborted) report?.(reasonOf(error));
      return UNAVAILABLE;
    }
  };

  return {
    claims: (token) => {
      const issuer = readIssuer(token);
      return issuer === undefined || issuer === settings.issuer;
    },
    ...createTokenCache({
      verify: (token, clientAddress) => {
        const verify = () =>
          introspectThroughBreaker(() =>
            introspect(token, AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)])),
          );
        if (clientAddress === undefined) return verify();
        const retryAfterSeconds = budget.take(clientAddress);
        if (retryAfterSeconds !== undefined)
          return { ...transient({ kind: 'limited', retryAfterSeconds }), generation: GENERATION };
        return verify().then((verification) => {
          if (verification.outcome.kind !== 'refused') budget.giveBack(clientAddress);
          return verification;
        });
      },
      keep: settings.tokenCacheMs,
      generation: () => GENERATION,
      now,
    }),
    warm: async () => undefined,
    close: () => closing.abort(),
  };
}

/** `answer` has a boolean `active`. */
function judgeIntrospection(
  answer: Readonly<Record<string, unknown>>,
  settings: IntrospectionIdentity,
  at: EpochMs,
): TokenVerdict {
  if (answer.active !== true) return permanent(invalid('inactive'));
  // The response is not signed text, so a null member counts as absent.
  const claims = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
  const { exp = Number.POSITIVE_INFINITY, nbf = 0, iss, aud } = claims;
  if (typeof exp !== 'number' || typeof nbf !== 'number') return permanent(invalid('claims'));
  if (!(at < (exp + LEEWAY) * 1000)) return permanent(expired('expired'));
  if (!(nbf * 1000 <= at + LEEWAY * 1000)) return transient(invalid('not_yet'));
  if (settings.issuer !== undefined && iss !== settings.issuer) return permanent(invalid('issuer'));
  if (settings.audience !== undefined && ![aud].flat().includes(settings.audience))
    return permanent(invalid('audience'));
  const binding = bindingOf(claims);
  if (binding.kind === 'other') return permanent(invalid('binding'));
  if (!KIND_MEMBERS.every((name) => isAccessTokenKind(claims[name]))) return permanent(invalid('types'));
  const consumer = consumerFrom(claims, settings.consumerClaims, settings.prefixes);
  if (consumer === undefined) return permanent(invalid('consumer'));
  return { outcome: known(consumer, binding), expires: exp * 1000 };
}

function isAccessTokenKind(kind: unknown): boolean {
  return kind === undefined || (typeof kind === 'string' && ACCESS_KINDS.test(kind));
}

/**
 * With an open breaker only one request per cooldown waits for a dead endpoint's timeout. `isOfEndpoint`: whether a failure
 * is the endpoint's and not that of one token. Returns undefined at once if the breaker is open, and rejects as `ask` does.
 */
function createCircuitBreaker(
  now: () => EpochMs,
  isOfEndpoint: (error: unknown) => boolean,
): <Answer>(ask: () => Promise<Answer>) => Promise<Answer> | undefined {
  let inFlight = 0;
  let failures = 0;
  let failedAt = Number.NEGATIVE_INFINITY;

  const mayCall = (): boolean => {
    if (failures < FAILURES) return inFlight < MAX_CONCURRENT;
    const at = now();
    return inFlight === 0 && (at < failedAt || at >= failedAt + COOLDOWN);
  };

  return (ask) => {
    if (!mayCall()) return undefined;
    inFlight += 1;
    return ask()
      .then(
        (answer) => {
          failures = 0;
          return answer;
        },
        (error: unknown) => {
          if (isOfEndpoint(error)) {
            failures += 1;
            failedAt = now();
          } else failures = 0;
          throw error;
        },
      )
      .finally(() => {
        inFlight -= 1;
      });
  };
}
