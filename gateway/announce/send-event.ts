// Events posted to the intake of the webhooks service: 202 once it is kept there, everything else is tried again.
import type { VersionEvent } from './event.ts';

export type EventOutcome =
  | { readonly kind: 'sent' }
  /** `other`: whether the next event may fare better, since the intake wants nothing of this one. */
  | { readonly kind: 'failed'; readonly other: boolean; readonly reason: string };

export type EventSender = (event: VersionEvent) => Promise<EventOutcome>;

const WITHIN_MS = 10_000;
const KEPT = 202;
/** Said of what was posted, not of the intake. */
const OF_THE_EVENT: readonly number[] = [400, 413, 422];

/** `ending` gives up what is under way. */
export function createEventSender(intake: string, ending?: AbortSignal): EventSender {
  return async (event) => {
    try {
      const response = await fetch(intake, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(event),
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(WITHIN_MS), ...(ending === undefined ? [] : [ending])]),
      });
      await response.body?.cancel();
      const { status } = response;
      if (status === KEPT) return { kind: 'sent' };
      return { kind: 'failed', other: OF_THE_EVENT.includes(status), reason: `status ${status}` };
    } catch (error) {
      return { kind: 'failed', other: false, reason: reasonOf(error) };
    }
  };
}

/** A code, never the address. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}
