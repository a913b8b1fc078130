// The idempotency step of the pipeline: the key is read, and asked for at the store, before anything of the body is.
// What comes of it is a refusal, a replay, or the order with the claim that the forwarder settles.
import type { ApiPlan } from '../plan/plan.ts';
import type { RouteMatch } from '../plan/route-table.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { fingerprintOf, readKey, storageKey } from '../policy/idempotency/key.ts';
import type { IdempotencyRules } from '../policy/idempotency/rules.ts';
import { refuse } from './admission.ts';
import { type Asked, awayFor, claimKey, withoutStore } from './claim.ts';
import type { Directive, ForwardOrder } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';
import { ownSearch } from './forward-order.ts';
import { awaited, type ExchangePorts, type Judging } from './ports.ts';
import type { RequestView } from './request-view.ts';

export interface Keyed {
  readonly match: Pick<RouteMatch<ApiPlan>, 'route' | 'tail'>;
  readonly view: RequestView;
  readonly facts: ExchangeFacts;
  readonly ports: ExchangePorts;
}

export function* underKey(
  order: ForwardOrder,
  rules: IdempotencyRules,
  { match, view, facts, ports }: Keyed,
): Judging<Directive> {
  const { method, headers, clientAddress } = view;
  const plainly: Directive = { kind: 'forward', forward: order };
  if (!rules.methods.has(method)) return plainly;
  const read = readKey(headers);
  if (read.kind === 'malformed') return refuse({ reason: 'idempotency_key_malformed' });
  if (read.kind === 'none')
    return rules.required ? refuse({ reason: 'idempotency_key_missing', keepMs: rules.keepMs }) : plainly;
  const { consumer } = facts.decision;
  if (consumer === undefined && rules.anonymous === 'refuse')
    return refuse({ reason: 'idempotency_key_anonymous' });
  // It only saves reading the body: what stands at the key is asked for as where a body has no length (IDM-3, IDM-7).
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
  let asked: Asked;
  try {
    const totalMs = order.upstream.timeouts.total;
    asked = yield* awaited(claimKey({ rules, key, contentType, totalMs, facts, ports }));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const refusal = withoutStore(rules, facts.completion, ports.wallClock);
    return refusal === undefined ? plainly : refuse(refusal);
  }
  switch (asked.kind) {
    case 'claimed':
      if (isOver && rules.required) {
        asked.claim.release();
        return refuse({ reason: 'body_too_large', most: rules.maxBody });
      }
      if (isOver) {
        asked.claim.abandon();
        return plainly;
      }
      facts.completion.idempotency = 'claimed';
      return { kind: 'forward', forward: { ...order, claim: asked.claim } };
    case 'running':
      facts.completion.idempotency = 'conflict';
      return refuse({ reason: 'idempotency_conflict' });
    case 'unknown':
      facts.completion.idempotency = 'conflict';
      return refuse({ reason: 'idempotency_unknown' });
    case 'kept': {
      const { answer } = asked;
      // Larger than any whose outcome is kept.
      if (isOver) {
        facts.completion.idempotency = 'mismatch';
        return refuse({ reason: 'idempotency_mismatch' });
      }
      const isSame = (body: Uint8Array): boolean => fingerprintOf(contentType, body) === answer.fingerprint;
      const noRoom = () => awayFor(ports.wallClock);
      return { kind: 'replay', forward: order, kept: answer, isSame, maxBody: rules.maxBody, noRoom };
    }
    default: {
      const never: never = asked;
      throw new Error(`unhandled key ${JSON.stringify(never)}`);
    }
  }
}
