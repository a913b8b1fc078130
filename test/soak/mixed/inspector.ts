// A client of Node's inspector in the gateway: collects garbage, reads the heap and evaluates expressions.

export interface Inspector extends Disposable {
  readonly collectGarbage: () => Promise<void>;
  /** Bytes. */
  readonly heap: () => Promise<number>;
  /** The value of an expression, as JSON. */
  readonly value: <T>(expression: string) => Promise<T>;
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error }: Reply = JSON.parse(String(data));
    if (id === undefined) return;
    if (error === undefined) asked.get(id)?.resolve(result);
    else asked.get(id)?.reject(new Error(error.message));
    asked.delete(id);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)));
  });
  socket.addEventListener('close', () => {
    for (const { reject } of asked.values()) reject(new Error('the inspector is gone'));
  });
  const ask = async <T>(method: string, params: object = {}): Promise<T> => {
    last += 1;
    const answer = Promise.withResolvers<unknown>();
    asked.set(last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return (await answer.promise) as T;
  };
  return {
    collectGarbage: async () => void (await ask('HeapProfiler.collectGarbage')),
    heap: async () => (await ask<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize,
    value: async <T>(expression: string) => {
      const given = await ask<{ result: { value: T }; exceptionDetails?: { text: string } }>(
        'Runtime.evaluate',
        {
          expression,
          returnByValue: true,
        },
      );
      if (given.exceptionDetails !== undefined) throw new Error(given.exceptionDetails.text);
      return given.result.value;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}
