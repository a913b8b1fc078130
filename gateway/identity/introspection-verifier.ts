// An identity that is asked about tokens, made able to judge them: question, gate, judgement and cache put together.
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

/** Milliseconds, the body included: a request waits for it. */
const TIMEOUT = 3_000;

export interface IntrospectionOptions {
  /** The real clock, never the moved clock of the lifecycle rules. */
  readonly now: () => EpochMs;
  readonly issuerOf?: IssuerOf;
  readonly fetch?: typeof fetch;
  /** Milliseconds a question may take; default 3 s. */
  readonly timeout?: number;
  /** Told after each question why it had no answer, for operators; undefined when it had one. */
  readonly report?: (failure: string | undefined) => void;
}

/** Answers do not depend on keys, so they are all of one edition. */
const GENERATION = 0;
const UNAVAILABLE: Verification = { ...transient({ kind: 'unavailable' }), generation: GENERATION };

/** Members in which servers say what kind of token it is; a refresh token is active too (JWT-5). */
const KIND_MEMBERS = ['token_type', 'token_use', 'typ'];
const ACCESS_KINDS = /^(?:bearer|access_token|(?:application\/)?(?:at\+)?jwt)$/i;

/** Failures in a row after which the endpoint is taken for dead. */
const FAILURES = 3;
/** Milliseconds until one question tries it again. */
const COOLDOWN = 5_000;
/** More at once than this are not asked: a flood of made-up tokens becomes no flood of questions. */
const MOST_AT_ONCE = 256;

/**
 * Makes the verifier of an identity with token introspection (RFC 7662). Without an answer a token is `unavailable`.
 * @throws TypeError when tokens may not be sent to `settings.endpoint`.
 */
export function createIntrospectionVerifier(
  settings: IntrospectionIdentity,
  {
    now,
    issuerOf: named = issuerOf,
    fetch: fetcher = fetch,
    timeout = TIMEOUT,
    report,
  }: IntrospectionOptions,
): IdentityVerifier {
  const introspect = createIntrospect(settings, fetcher);
  const breaker = createCircuitBreaker(now, isEndpointFailure);
  const budget = createTokenBudget(now);
  const closing = new AbortController();

  const ask = async (question: () => ReturnType<typeof introspect>): Promise<Verification> => {
    try {
      const answer = await breaker(question);
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
      const issuer = named(token);
      return issuer === undefined || issuer === settings.issuer;
    },
    ...createTokenCache({
      verify: (token, clientAddress) => {
        const verify = () =>
          ask(() => introspect(token, AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)])));
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
  // The server's own words and no signed text: a member that it leaves empty is one that is not there.
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
  if (!KIND_MEMBERS.every((name) => isOfAccess(claims[name]))) return permanent(invalid('types'));
  const consumer = consumerFrom(claims, settings.consumerClaims, settings.prefixes);
  if (consumer === undefined) return permanent(invalid('consumer'));
  return { outcome: known(consumer, binding), expires: exp * 1000 };
}

function isOfAccess(kind: unknown): boolean {
  return kind === undefined || (typeof kind === 'string' && ACCESS_KINDS.test(kind));
}

/**
 * Lets few questions through to an endpoint that fails, so that a dead one costs one request of many its time-out.
 * `isOfEndpoint`: whether a failure is one of the endpoint, and not of the one question. The gate returns undefined, at
 * once, for a question that is not let through, and rejects as `ask` does.
 */
function createCircuitBreaker(
  now: () => EpochMs,
  isOfEndpoint: (error: unknown) => boolean,
): <Answer>(ask: () => Promise<Answer>) => Promise<Answer> | undefined {
  let asking = 0;
  let failures = 0;
  let failedAt = Number.NEGATIVE_INFINITY;

  const mayAsk = (): boolean => {
    if (failures < FAILURES) return asking < MOST_AT_ONCE;
    const at = now();
    return asking === 0 && (at < failedAt || at >= failedAt + COOLDOWN);
  };

  return (ask) => {
    if (!mayAsk()) return undefined;
    asking += 1;
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
        asking -= 1;
      });
  };
}
