// A request whose outcome is kept for its key: its body whole before it is sent, its answer kept before it is given.
import { addressesToKeep } from '../../exchange/addresses/answer-addresses.ts';
import { Fault, type ForwardOrder, type IdempotencyClaim, type Refusal } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import type { Delivery } from '../call.ts';
import { MOST_TIMES_HERE, timesHere } from '../request-headers.ts';
import { type Capture, type CaptureEvents, captureAnswer } from './captured-answer.ts';
import type { HeldBodies } from './held-body.ts';
import { readWhole } from './whole-body.ts';

export interface KeyedCall {
  /** Null where the request has none. */
  readonly body: Buffer | null;
  readonly capture: (delivery: Delivery, events: CaptureEvents) => Capture;
  /** Nothing more will come of the call; `sent`: an upstream may have carried it out. */
  readonly onFailed: (sent: boolean) => void;
  /** Releases the body. */
  readonly free: () => void;
}

export type Prepared =
  /** `call` undefined: without the guarantee. */
  | { readonly kind: 'ready'; readonly call: KeyedCall | undefined }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * What there is to do before the upstream is asked; undefined: nothing. Resolves with undefined when the client has left.
 * @throws Fault `upstream_loop` when the request has come round, `internal` (later) when its body breaks off
 */
export function prepareCall(
  inbound: Inbound,
  order: ForwardOrder,
  room: HeldBodies,
): Promise<Prepared | undefined> | undefined {
  const { claim } = order;
  if (timesHere(inbound.view.headers.get('via')) > MOST_TIMES_HERE) {
    claim?.release();
    throw new Fault('upstream_loop', { service: order.upstream.name });
  }
  return claim && prepareKeyedCall(inbound, order, claim, room);
}

async function prepareKeyedCall(
  inbound: Inbound,
  order: ForwardOrder,
  claim: IdempotencyClaim,
  room: HeldBodies,
): Promise<Prepared | undefined> {
  const { rules } = claim;
  const body = await readWhole(inbound, Math.min(rules.maxBody, order.maxBody), room);
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
          captureAnswer({ inbound, claim: addressedClaim, request: bytes, delivery, room, ...events }),
        onFailed: (sent) => {
          if (sent) claim.lose();
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
      else claim.abandon();
      if (isRefused) return { kind: 'refused', refusal: { reason: 'body_too_large', most } };
      return rules.required
        ? { kind: 'refused', refusal: claim.noRoom() }
        : { kind: 'ready', call: undefined };
    }
    case 'refused':
      claim.release();
      return body;
    case 'broken':
      claim.release();
      throw new Fault('internal', { cause: new Error('the client cut its body') });
    default:
      return body satisfies never;
  }
}
