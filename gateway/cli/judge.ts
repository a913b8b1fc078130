// Judges a request without a running gateway: uses the facts that were passed and assumes the rest.
import { HeaderLines } from '../exchange/answer-headers.ts';
import {
  Fault,
  type FaultCode,
  type ForwardOrder,
  type Refusal,
  type RefusalReason,
} from '../exchange/directive.ts';
import { createExchange, type ExchangeAnswer } from '../exchange/exchange.ts';
import type { Completion, Decision, RequestStart } from '../exchange/facts.ts';
import type { ExchangePorts } from '../exchange/ports.ts';
import type { RequestView } from '../exchange/request-view.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { IdentitySettings, Settings } from '../plan/settings.ts';
import type {
  AuthenticationResult,
  Authenticator,
  CallerEvidence,
  Consumer,
} from '../policy/authentication/access.ts';
import { tokenAuthenticator } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { IdempotencyStore } from '../policy/idempotency/rules.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import { gcra, slidingLog } from '../policy/rate-limit/gcra.ts';
import type { Limit, Taken } from '../policy/rate-limit/limit.ts';
import type { PinStore } from '../policy/versioning/pin.ts';
import { type KnownAccount, withClaims } from './known-account.ts';
import type { ParsedRequest } from './parse-request.ts';

interface AssumedConsumer extends Omit<Consumer, 'claims' | 'via'> {
  /** Whether a consumer was named. It then has a credential of every kind. */
  readonly isNamed: boolean;
}

export interface JudgeInput {
  readonly plan: GatewayPlan;
  readonly settings: Settings;
  readonly now: EpochMs;
  readonly overrides: readonly Override[];
  /** The consumer that every credential proves. */
  readonly consumer: AssumedConsumer;
  readonly account: KnownAccount;
  /** The pins of `account`. A stored pin is found by later requests. */
  readonly pins: PinStore;
}

export type JudgedFacts = RequestStart & Decision & Readonly<Completion>;

export interface JudgedRequest {
  readonly view: RequestView;
  readonly facts: JudgedFacts;
  readonly ending: JudgedOutcome;
}

export type JudgedOutcome =
  /** `headers`: what the gateway adds to the upstream's response. */
  | { readonly kind: 'forwarded'; readonly order: ForwardOrder; readonly headers: HeaderLines }
  | {
      readonly kind: 'answered';
      readonly reason: RefusalReason | FaultCode | 'published';
      /** Undefined for a fault and for a published page. */
      readonly refusal: Refusal | undefined;
      readonly answer: ExchangeAnswer;
      /** Why something failed. Undefined for a refusal. */
      readonly cause: string | undefined;
    };

/** Contains every scope, for a consumer without given scopes. */
export const EVERY_SCOPE: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

const MISSING: AuthenticationResult = { kind: 'refused', refusal: { reason: 'credentials_missing' } };

/** @throws Error that is not a Fault: a bug */
export async function judge(
  request: Exclude<ParsedRequest, { kind: 'unusable' }>,
  input: JudgeInput,
): Promise<JudgedRequest> {
  const exchange = createExchange(assume(input));
  const { view } = request;
  const facts = exchange.begin(view.requestId);
  const ending = async (): Promise<JudgedOutcome> => {
    if (request.kind === 'refused') {
      const { refusal } = request;
      const answer = exchange.refuse(refusal, facts, request.glimpse);
      return { kind: 'answered', reason: refusal.reason, refusal, answer, cause: undefined };
    }
    try {
      const directive = await exchange.decide(view, facts);
      if (directive.kind === 'refuse') {
        const { refusal } = directive;
        const answer = exchange.refuse(refusal, facts, view);
        return { kind: 'answered', reason: refusal.reason, refusal, answer, cause: undefined };
      }
      if (directive.kind === 'publish') {
        const answer = exchange.publish(directive.publication, facts, view);
        return { kind: 'answered', reason: 'published', refusal: undefined, answer, cause: undefined };
      }
      // Every idempotency key is new, so there is no replay.
      const headers = new HeaderLines(directive.forward.headerRules?.response.set);
      // As for an upstream response without cache headers.
      exchange.decorate(200, headers, facts, view);
      return { kind: 'forwarded', order: directive.forward, headers };
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      const cause = thrown.cause instanceof Error ? thrown.cause.message : undefined;
      const answer = exchange.fail(thrown, facts, view);
      return { kind: 'answered', reason: thrown.code, refusal: undefined, answer, cause };
    }
  };
  const ended = await ending();
  return { view, facts: { ...facts.start, ...facts.decision, ...facts.completion }, ending: ended };
}

const FIRST_REQUESTS: IdempotencyStore = {
  claim: async () => ({ kind: 'claimed' }),
  finish: async () => true,
  hold: async () => true,
  release: async () => true,
};

/** Every bucket is full, every credential valid, every idempotency key new. */
function assume({
  plan,
  settings,
  now,
  overrides,
  consumer: named,
  account,
  pins,
}: JudgeInput): ExchangePorts {
  const consumer = withClaims(named, account, plan);
  const full = (limit: Limit, cost: number): Taken =>
    (limit.algorithm === 'sliding-log' ? slidingLog([], limit, cost, 0) : gcra(undefined, limit, cost, 0))
      .taken;
  const assumed = (identity: IdentitySettings) => assumeIdentity(identity, consumer, named.isNamed);
  return {
    plan: () => plan,
    now: () => now,
    wallClock: () => now,
    monotonic: () => 0,
    guard: (_address, limit) => full(limit, 1),
    limiter: {
      take: (parts) =>
        parts.map(({ limit, cost, rule }) => ({ kind: 'counted', limit, rule, ...full(limit, cost) })),
    },
    pins,
    idempotency: FIRST_REQUESTS,
    adoption: {
      saw: () => undefined,
      isLate: (_adopter, freeze) => (account.firstSeen ?? Number.NEGATIVE_INFINITY) >= freeze,
    },
    ledger: settings.ledger && { read: async () => ({ records: [], next: undefined }) },
    overrides: () => overrides,
    authenticators: new Map(settings.identities.map((each) => [each.name, assumed(each)])),
    onFault: () => undefined,
    hstsSeconds: settings.listeners.https?.hstsSeconds,
  };
}

function assumeIdentity(
  identity: IdentitySettings,
  consumer: Omit<Consumer, 'via'>,
  isNamed: boolean,
): Authenticator {
  const accepted = (via: Consumer['via']): AuthenticationResult => ({
    kind: 'consumer',
    consumer: { ...consumer, via },
  });
  const shown = (via: Consumer['via'], isShown: (carried: CallerEvidence) => boolean): Authenticator => ({
    via,
    isPresent: (carried) => isNamed || isShown(carried),
    claims: () => true,
    judge: (carried) => (isNamed || isShown(carried) ? accepted(via) : MISSING),
  });
  switch (identity.kind) {
    case 'jwt':
    case 'introspection':
      // The headers have a token, or a placeholder for it.
      return tokenAuthenticator(() => 0, { claims: () => true, verify: () => accepted('token') });
    case 'keys': {
      const field = identity.header;
      const name = field.toLowerCase();
      return { ...shown('key', ({ headers }) => headers.get(name) !== undefined), field };
    }
    case 'certificate':
      return shown('certificate', ({ clientCertificate }) => clientCertificate !== undefined);
    default:
      return identity satisfies never;
  }
}
