// Reads a complete request body before the request is forwarded.
import type { Refusal } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import { contentOf, gather, type HeldBodies, startGathering } from './held-body.ts';
import { PADDED } from './measured-body.ts';

export type WholeBody =
  /** Call `free` when the body is no longer used. */
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly free: () => void }
  /** The body exceeds `most`, or the shared memory bound is reached. The bytes are put back into the stream. */
  | { readonly kind: 'over' | 'full' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The body ended early. */
  | { readonly kind: 'broken' };

export function readWhole(inbound: Inbound, most: number, memory: HeldBodies): Promise<WholeBody> {
  if (!inbound.hasBody)
    return Promise.resolve({ kind: 'whole', bytes: contentOf(startGathering(0)), free: () => undefined });
  const { body: stream } = inbound;
  const { promise, resolve } = Promise.withResolvers<WholeBody>();
  const gathered = startGathering(most);
  let counted = 0;

  const count = (held: number): void => {
    memory.held += held - counted;
    counted = held;
  };
  const free = (): void => count(0);
  const settle = (body: WholeBody): void => {
    stream.off('data', take);
    stream.off('end', onEnd);
    inbound.onGone = undefined;
    if (body.kind !== 'whole') free();
    resolve(body);
  };
  const putBack = (kind: 'over' | 'full'): void => {
    stream.pause();
    settle({ kind });
    stream.unshift(contentOf(gathered));
  };
  function take(chunk: Buffer): void {
    gather(gathered, chunk);
    count(gathered.buffer.length);
    if (inbound.isPadded?.()) settle({ kind: 'refused', refusal: PADDED });
    else if (gathered.length > most) putBack('over');
    else if (memory.held > memory.most) putBack('full');
  }
  function onEnd(): void {
    if (inbound.endedWhole()) settle({ kind: 'whole', bytes: contentOf(gathered), free });
    else settle({ kind: 'broken' });
  }
  stream.on('data', take);
  stream.once('end', onEnd);
  inbound.onGone = () => settle({ kind: 'broken' });
  return promise;
}
