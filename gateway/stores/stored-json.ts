// JSON that comes out of a store, of which nothing is known yet.

/** Tells `onFault` of it the first time that it is called, however much of it there is. */
export function faultOnce(onFault: (error: unknown) => void, message: string): () => void {
  let isTold = false;
  return () => {
    if (!isTold) onFault(new TypeError(message));
    isTold = true;
  };
}

export type StoredObject = Readonly<Record<string, unknown>>;

/** The value written in `text`; undefined for what is no JSON. */
export function storedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

export function isStoredObject(value: unknown): value is StoredObject {
  return typeof value === 'object' && value !== null;
}

/** Whole milliseconds that a calendar has: any other number would throw wherever it is written as a date. */
export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Number.isNaN(new Date(Number(value)).getTime());
}
