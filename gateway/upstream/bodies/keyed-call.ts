// Prepares a request with an idempotency key: reads its body first, and stores the response before it is sent.
import { addressesToKeep } from '../../exchange/addresses/answer-addresses.ts';
import { Fault, type ForwardOrder, type IdempotencyClaim, type Refusal } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import type { Delivery } from '../call.ts';
import { countOwnHops, MAX_OWN_HOPS } from '../request-headers.ts';
import { type Capture, type CaptureEvents, captureAnswer } from './captured-answer.ts';
import type { HeldBodies } from './held-body.ts';
import { readWhole } from './whole-body.ts';

export interface KeyedCall {
  readonly body: Buffer | null;
  readonly capture: (delivery: Delivery, events: CaptureEvents) => Capture;
  /** The call is over without a response. `sent`: the upstream may have executed it. */
  readonly onFailed: (sent: boolean) => void;
  readonly free: () => void;
}

export type Prepared =
  /** `call` undefined: forward without the guarantee. */
  | { readonly kind: 'ready'; readonly call: KeyedCall | undefined }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * Prepares a request before it is sent upstream. Undefined: it needs no preparation. Resolves with undefined if the
 * client disconnected.
 * @throws Fault `upstream_loop` if the request came back here, `internal` (later) if its body ends early
 */
export function prepareCall(
  inbound: Inbound,
  order: ForwardOrder,
  memory: HeldBodies,
): Promise<Prepared | undefined> | undefined {
  const { claim } = order;
  if (countOwnHops(inbound.view.headers.get('via')) > MAX_OWN_HOPS) {
    claim?.release();
    throw new Fault('upstream_loop', { service: order.upstream.name });
  }
  return claim && prepareKeyedCall(inbound, order, claim, memory);
}

async function prepareKeyedCall(
  inbound: Inbound,
  order: ForwardOrder,
  claim: IdempotencyClaim,
  memory: HeldBodies,
): Promise<Prepared | undefined> {
  const { rules } = claim;
  const body = await readWhole(inbound, Math.min(rules.maxBody, order.maxBody), memory);
  switch (body.kind) {
    case 'whole': {
      const { bytes, free } = body;
      const refusal = await claim.renew();
      if (refusal !== undefined) {
        free();
        return { kind: 'refused', refusal };
      }
      const addressedClaim: IdempotencyClaim = {
        ...claim,
        headOf: (status, headers) =>
          claim.headOf(status, addressesToKeep(headers, order, inbound.forwardedHost)),
      };
      const call: KeyedCall = {
        body: inbound.hasBody ? bytes : null,
        capture: (delivery, events) =>
          captureAnswer({ inbound, claim: addressedClaim, request: bytes, delivery, memory, ...events }),
        onFailed: (sent) => {
          if (sent) claim.reportUnknown();
          else claim.release();
        },
        free,
      };
      if (!inbound.gone) return { kind: 'ready', call };
      call.onFailed(false);
      free();
      return undefined;
    }
    case 'over':
    case 'full': {
      const most = body.kind === 'full' ? undefined : Math.min(rules.maxBody, order.maxBody);
      const isRefused = most !== undefined && (rules.required || most === order.maxBody);
      if (isRefused || rules.required) claim.release();
      else claim.continueWithoutKey();
      if (isRefused) return { kind: 'refused', refusal: { reason: 'body_too_large', most } };
      return rules.required
        ? { kind: 'refused', refusal: claim.refuseForMemory() }
        : { kind: 'ready', call: undefined };
    }
    case 'refused':
      claim.release();
      return body;
    case 'broken':
      claim.release();
      throw new Fault('internal', { cause: new Error('the client ended its body early') });
    default:
      return body satisfies never;
  }
}
