// The order of the ledger, and how a place in it is written: where one page ends and the next begins.
// Both stores sort and page by it; the admin API hands places on as they are.
import type { UsageSubject } from './ledger.ts';

/** What orders records: api, version, consumer, via, operation; an operation that is none is ''. */
export type UsagePlace = readonly [
  api: string,
  version: string,
  consumer: string,
  via: string,
  operation: string,
];

export function placeOf({ api, version, consumer, via, operation }: UsageSubject): UsagePlace {
  return [api, version, consumer, via, operation ?? ''];
}

export function writePlace(place: UsagePlace): string {
  return JSON.stringify(place);
}

/** Undefined for a text that is no place; whoever asks for a page may have written anything. */
export function readPlace(text: string): UsagePlace | undefined {
  const parts = partsOf(text);
  if (!Array.isArray(parts) || parts.length !== 5) return undefined;
  const [api, version, consumer, via, operation] = parts.map((part) =>
    typeof part === 'string' ? part : undefined,
  );
  if (api === undefined || version === undefined || consumer === undefined) return undefined;
  return via === undefined || operation === undefined ? undefined : [api, version, consumer, via, operation];
}

function partsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
