// The idempotency step: reads the key and claims it in the store before the body is read.
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
import { ownSearch } from './forward-order.ts';

export interface KeyedRequest {
  readonly match: Pick<RouteMatch<ApiPlan>, 'route' | 'tail'>;
  readonly view: RequestView;
  readonly facts: ExchangeFacts;
  readonly ports: ExchangePorts;
}

export function* keyedOrder(
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
  // A body that is too large need not be read. The store lookup stays the same as without Content-Length (IDM-3,
  // IDM-7).
  const isOver = Number(headers.get('content-length') ?? 0) > rules.maxBody;
  const contentType = headers.get('content-type') ?? '';
  const key = storageKey({
    api: match.route.name,
    version: order.label,
    method,
    target: match.tail + ownSearch(match.route.resolution, view.search),
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
    const refusal = withoutStore(rules, facts.completion, ports.wallClock);
    return refusal === undefined ? withoutKey : refuse(refusal);
  }
  switch (result.kind) {
    case 'claimed':
      if (isOver && rules.required) {
        result.claim.release();
        return refuse({ reason: 'body_too_large', most: rules.maxBody });
      }
      if (isOver) {
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
      if (isOver) {
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
  /** In milliseconds. */
  readonly totalMs: number;
  readonly facts: ExchangeFacts;
  readonly ports: Pick<ExchangePorts, 'idempotency' | 'monotonic' | 'wallClock' | 'onFault'>;
}

/** IDM-5: added to the upstream timeout for a body that arrives before the lock is renewed. */
const LOCK_BEYOND_MS = 15_000;
const RENEWED_AFTER_MS = 5_000;

export type ClaimResult =
  | Exclude<KeyClaim, { kind: 'claimed' }>
  | { readonly kind: 'claimed'; readonly claim: IdempotencyClaim };

/** @throws StoreUnavailable */
export async function claimKey(options: ClaimOptions): Promise<ClaimResult> {
  const { rules, key, contentType, totalMs, facts, ports } = options;
  const { completion } = facts;
  const store = ports.idempotency;
  const owner = randomUUID();
  const lockMs = totalMs + LOCK_BEYOND_MS;
  let isSettled = false;

  /** If the store is unavailable, the lock expires by itself. */
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
      if (ports.monotonic() - claimedAt < RENEWED_AFTER_MS) return undefined;
      try {
        const { kind } = await store.claim(key, owner, lockMs);
        if (kind === 'claimed') return undefined;
        isSettled = true;
        completion.idempotency = 'conflict';
        return { reason: 'idempotency_conflict' };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return withoutStore(rules, completion, ports.wallClock);
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
    // The claim may have been stored. Release it, because no request uses that lock.
    release();
    throw error;
  }
}

/** IDM-8: undefined if the request continues without the guarantee. */
export function withoutStore(
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
