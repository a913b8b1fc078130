// An identity that is asked about tokens, made able to judge them: question, gate, judgement and cache put together.
// The composition root makes one per identity of this kind; the pipeline's authentication step asks it.
import type { IntrospectionIdentity } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createIntrospect, saysOfAll } from './introspect.ts';
import { reasonOf } from './issuer-request.ts';
import { judgeIntrospection } from './judge-introspection.ts';
import type { IssuerOf } from './known-issuers.ts';
import { createQuestionGate } from './question-gate.ts';
import { createTokenBudget } from './token-budget.ts';
import { createTokenCache } from './token-cache.ts';
import { issuerOf } from './token-shape.ts';
import { passing, type Verification } from './verdict.ts';
import type { IdentityVerifier } from './verifier.ts';

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
const UNAVAILABLE: Verification = { ...passing({ kind: 'unavailable' }), generation: GENERATION };

/**
 * Makes the verifier of an identity that is asked about tokens (RFC 7662). Where no answer can be had, a token is
 * `unavailable`: that says nothing of the token.
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
  const gate = createQuestionGate(now, saysOfAll);
  const budget = createTokenBudget(now);
  const closing = new AbortController();

  const ask = async (question: () => ReturnType<typeof introspect>): Promise<Verification> => {
    try {
      const answer = await gate(question);
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
        const asked = () =>
          ask(() => introspect(token, AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)])));
        if (clientAddress === undefined) return asked();
        const retryAfterSeconds = budget.take(clientAddress);
        if (retryAfterSeconds !== undefined)
          return { ...passing({ kind: 'limited', retryAfterSeconds }), generation: GENERATION };
        return asked().then((verification) => {
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
