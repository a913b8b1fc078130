// Readiness: whether new requests should be sent here. False before the start is done and from the first moment of a drain.
// Says nothing of liveness, and a lost store does not make it false: limits fall back and answers go on.
import { type AdminAnswer, jsonAnswer } from './answers.ts';

export interface Readiness {
  readonly state: 'starting' | 'ready' | 'draining';
  /** The kind of store, never its address. */
  readonly store: { readonly kind: 'embedded' | 'redis'; readonly state: 'up' | 'down' };
  /** Revision of the plan in use; undefined before there is one. */
  readonly revision: string | undefined;
}

export function readinessAnswer({ state, store, revision }: Readiness): AdminAnswer {
  const body = {
    status: state,
    store: { kind: store.kind, state: store.state },
    plan: revision ?? null,
  };
  return jsonAnswer(state === 'ready' ? 200 : 503, body);
}
