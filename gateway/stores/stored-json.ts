// Reads JSON of unknown shape from a store.

/** Reports to `onFault` at the first call only. */
export function faultOnce(onFault: (error: unknown) => void, message: string): () => void {
  let isReported = false;
  return () => {
    if (!isReported) onFault(new TypeError(message));
    isReported = true;
  };
}

export type StoredObject = Readonly<Record<string, unknown>>;

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

/** Whether a number is a valid date in whole milliseconds. Any other number throws when it is formatted. */
export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Number.isNaN(new Date(Number(value)).getTime());
}
