// Reports store errors to the operator, each at most once in 10 s: an unavailable Redis fails every request.
import { describe } from './failure.ts';

const AGAIN_AFTER_MS = 10_000;
const MAX_REMEMBERED = 100;

export function createFaultLog(
  log: (line: Readonly<Record<string, unknown>>) => void,
  now: () => number,
): (error: unknown) => void {
  const reportedAt = new Map<string, number>();
  return (error) => {
    const text = describe(error);
    if (now() - (reportedAt.get(text) ?? Number.NEGATIVE_INFINITY) < AGAIN_AFTER_MS) return;
    if (reportedAt.size >= MAX_REMEMBERED) reportedAt.clear();
    reportedAt.set(text, now());
    log({ event: 'store_fault', error: text });
  };
}
