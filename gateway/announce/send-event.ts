// Posts events to the intake of the webhooks service. Only a 202 means stored, everything else is retried.
import type { VersionEvent } from './event.ts';

export type EventOutcome =
  | { readonly kind: 'sent' }
  /** `onlyThis`: the failure concerns this event only, so the next one may succeed. */
  | { readonly kind: 'failed'; readonly onlyThis: boolean; readonly reason: string };

export type EventSender = (event: VersionEvent) => Promise<EventOutcome>;

const WITHIN_MS = 10_000;
const ACCEPTED = 202;
/** These statuses concern the event, not the intake. */
const OF_THE_EVENT: readonly number[] = [400, 413, 422];

/** `ending` aborts running requests. */
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
      if (status === ACCEPTED) return { kind: 'sent' };
      return { kind: 'failed', onlyThis: OF_THE_EVENT.includes(status), reason: `status ${status}` };
    } catch (error) {
      return { kind: 'failed', onlyThis: false, reason: reasonOf(error) };
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
