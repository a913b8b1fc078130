// The idempotency step: claims the key before the body is read, and sets the outcome of the key.
import { randomUUID } from 'node:crypto';
import type { ApiPlan } from '../../plan/plan.ts';
import type { RouteMatch } from '../../plan/routes/route-table.ts';
import { retryLater, StoreUnavailable } from '../../policy/contract.ts';
import { fingerprintOf, readIdempotencyKey, storageKey } from '../../policy/idempotency/key.ts';
import {
  type IdempotencyRefusal,
  type IdempotencyRules,
  type KeyClaim,
  retentionOf,
  storedHeaders,
} from '../../policy/idempotency/rules.ts';
import { type Directive, Fault, type ForwardOrder, type IdempotencyClaim } from '../directive.ts';
import type { Completion, ExchangeFacts } from '../facts.ts';
import { awaited, type ExchangePorts, type Judging } from '../ports.ts';
import type { RequestView } from '../request-view.ts';
import { refuse } from './admission.ts';
import { searchWithoutVersion } from './forward-order.ts';

export interface KeyedRequest {
  readonly match: Pick<RouteMatch<ApiPlan>, 'route' | 'tail'>;
  readonly view: RequestView;
  readonly facts: ExchangeFacts;
  readonly ports: ExchangePorts;
}

/** Claims the key, if the request has one. Forwards, replays the stored response, or refuses. */
export function* claimThenForward(
  order: ForwardOrder,
  rules: IdempotencyRules,
  { match, view, facts, ports }: KeyedRequest,
): Judging<Directive> {
  const { method, headers, clientAddress } = view;
  const withoutKey: Directive = { kind: 'forward', forward: order };
  if (!rules.methods.has(method)) return withoutKey;
  const read = readIdempotencyKey(headers);
  if (read.kind === 'malformed') return refuse({ reason: 'idempotency_key_malformed' });
  if (read.kind === 'none')
    return rules.required ? refuse({ reason: 'idempotency_key_missing', keepMs: rules.keepMs }) : withoutKey;
  const { consumer } = facts.decision;
  if (consumer === undefined && rules.anonymous === 'refuse')
    return refuse({ reason: 'idempotency_key_anonymous' });
  // If Content-Length exceeds `maxBody`, the body is not read. The key is still looked up, so the result is
  // the same as for a chunked body (IDM-3, IDM-7).
  const isBodyTooLarge = Number(headers.get('content-length') ?? 0) > rules.maxBody;
  const contentType = headers.get('content-type') ?? '';
  const key = storageKey({
    api: match.route.name,
    version: order.label,
    method,
    target: match.tail + searchWithoutVersion(match.route.resolution, view.search),
    consumer,
    clientAddress,
    key: read.key,
  });
  let result: ClaimResult;
  try {
    const totalMs = order.upstream.timeouts.total;
    result = yield* awaited(claimKey({ rules, key, contentType, totalMs, facts, ports }));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const refusal = refuseWithoutStore(rules, facts.completion, ports.wallClock);
    return refusal === undefined ? withoutKey : refuse(refusal);
  }
  switch (result.kind) {
    case 'claimed':
      if (isBodyTooLarge && rules.required) {
        result.claim.release();
        return refuse({ reason: 'body_too_large', most: rules.maxBody });
      }
      if (isBodyTooLarge) {
        result.claim.continueWithoutKey();
        return withoutKey;
      }
      facts.completion.idempotency = 'claimed';
      return { kind: 'forward', forward: { ...order, claim: result.claim } };
    case 'running':
      facts.completion.idempotency = 'conflict';
      return refuse({ reason: 'idempotency_conflict' });
    case 'unknown':
      facts.completion.idempotency = 'conflict';
      return refuse({ reason: 'idempotency_unknown' });
    case 'kept': {
      const { answer } = result;
      if (isBodyTooLarge) {
        facts.completion.idempotency = 'mismatch';
        return refuse({ reason: 'idempotency_mismatch' });
      }
      const isSame = (body: Uint8Array): boolean => fingerprintOf(contentType, body) === answer.fingerprint;
      const refuseForMemory = () => storeUnavailable(ports.wallClock);
      return {
        kind: 'replay',
        forward: order,
        stored: answer,
        isSame,
        maxBody: rules.maxBody,
        refuseForMemory,
      };
    }
    default:
      return result satisfies never;
  }
}

export interface ClaimOptions {
  readonly rules: IdempotencyRules;
  readonly key: string;
  readonly contentType: string;
  /** The total timeout of the upstream. */
  readonly totalMs: number;
  readonly facts: ExchangeFacts;
  readonly ports: Pick<ExchangePorts, 'idempotency' | 'monotonic' | 'wallClock' | 'onFault'>;
}

/** IDM-5: time for the request body to arrive. Added to the upstream timeout. */
const BODY_TIME_MS = 15_000;
/** A younger lock needs no renewal. */
const RENEW_AFTER_MS = 5_000;

export type ClaimResult =
  | Exclude<KeyClaim, { kind: 'claimed' }>
  | { readonly kind: 'claimed'; readonly claim: IdempotencyClaim };

/** Claims `key` for this request, or returns what the store knows of it. @throws StoreUnavailable */
export async function claimKey(options: ClaimOptions): Promise<ClaimResult> {
  const { rules, key, contentType, totalMs, facts, ports } = options;
  const { completion } = facts;
  const store = ports.idempotency;
  const owner = randomUUID();
  const lockMs = totalMs + BODY_TIME_MS;
  let isSettled = false;

  /**
   * Runs `change` if no outcome is settled yet. Returns false if one is settled or the store is unavailable;
   * then the lock expires.
   */
  const settle = async (change: () => Promise<boolean>): Promise<boolean> => {
    if (isSettled) return false;
    isSettled = true;
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) ports.onFault(new Fault('internal', { cause: error }), facts);
      return false;
    }
  };
  const release = (): void => void settle(() => store.release(key, owner));
  const hold = (): void => void settle(() => store.hold(key, owner, rules.keepMs));

  const claimedAt = ports.monotonic();
  const claim: IdempotencyClaim = {
    rules,
    renew: async () => {
      if (ports.monotonic() - claimedAt < RENEW_AFTER_MS) return undefined;
      try {
        const { kind } = await store.claim(key, owner, lockMs);
        if (kind === 'claimed') return undefined;
        isSettled = true;
        completion.idempotency = 'conflict';
        return { reason: 'idempotency_conflict' };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return refuseWithoutStore(rules, completion, ports.wallClock);
      }
    },
    judge: (status, headers) => retentionOf(rules, status, headers.record()),
    headOf: (status, headers) => ({ status, headers: storedHeaders(headers.record()) }),
    store: async (request, answer) => {
      const fingerprint = fingerprintOf(contentType, request);
      const done = await settle(() => store.finish(key, owner, { fingerprint, ...answer }, rules.keepMs));
      if (!done) completion.idempotency = 'unprotected';
    },
    refuseForMemory: () => storeUnavailable(ports.wallClock),
    release,
    continueWithoutKey: () => {
      completion.idempotency = 'unprotected';
      release();
    },
    reportUnstorable: () => {
      completion.idempotency = rules.required ? 'unknown' : 'unprotected';
      if (rules.required) hold();
      else release();
    },
    reportUnknown: () => {
      if (isSettled) return;
      completion.idempotency = 'unknown';
      if (rules.unknown === 'hold') hold();
      else release();
    },
  };
  try {
    const found = await store.claim(key, owner, lockMs);
    return found.kind === 'claimed' ? { kind: 'claimed', claim } : found;
  } catch (error) {
    // The store may have stored the claim before the failure. No request uses that lock, so it is released.
    release();
    throw error;
  }
}

/**
 * IDM-8: a refusal if the key is required. Otherwise marks the request `unprotected` and returns undefined.
 */
export function refuseWithoutStore(
  { required }: Pick<IdempotencyRules, 'required'>,
  completion: Completion,
  wallClock: ExchangePorts['wallClock'],
): IdempotencyRefusal | undefined {
  if (required) return storeUnavailable(wallClock);
  completion.idempotency = 'unprotected';
  return undefined;
}

function storeUnavailable(wallClock: ExchangePorts['wallClock']): IdempotencyRefusal {
  return retryLater('idempotency_unavailable', 1, wallClock());
}
