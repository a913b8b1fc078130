// Parses the query of an echo request: when and how the echo answers, if at all.
import { validateHeaderName, validateHeaderValue } from 'node:http';

export interface Behaviour {
  readonly delayMs: number;
  readonly status: number;
  /** Undefined: one JSON body. */
  readonly stream: { readonly chunks: number; readonly everyMs: number; readonly bytes: number } | undefined;
  readonly hangup: 'before' | 'middle' | undefined;
  /** Never answers. */
  readonly hang: boolean;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/**
 * `delay=ms` `status=503` `retry-after=7` `chunks=n` `every=ms` `bytes=per chunk` `hangup=before|middle` `hang=1`
 * `header=name:value` (repeated). Other parameters are ignored. A string result is an error message.
 */
export function readBehaviour(query: URLSearchParams): Behaviour | string {
  const numbers = { delay: 0, status: 200, chunks: 0, every: 0, bytes: 0 };
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) {
    const written = query.get(name);
    if (written === null) continue;
    if (!/^\d{1,9}$/.test(written)) return `${name} must be a whole number`;
    numbers[name] = Number(written);
  }
  if (numbers.status < 200 || numbers.status > 599) return 'status must be from 200 to 599';
  const hangup = query.get('hangup');
  if (hangup !== null && hangup !== 'before' && hangup !== 'middle') return 'hangup must be before or middle';
  const headers = query.getAll('header').map(splitField);
  const retryAfter = query.get('retry-after');
  if (retryAfter !== null) headers.push(['Retry-After', retryAfter]);
  if (!headers.every(isSendable)) return 'header must be name:value, and retry-after a value';
  return {
    delayMs: numbers.delay,
    status: numbers.status,
    stream: query.has('chunks')
      ? { chunks: numbers.chunks, everyMs: numbers.every, bytes: numbers.bytes }
      : undefined,
    hangup: hangup ?? undefined,
    hang: query.get('hang') === '1',
    headers,
  };
}

function splitField(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return colon === -1 ? ['', line] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

function isSendable([name, value]: readonly [string, string]): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false; // both checks only throw
  }
}
