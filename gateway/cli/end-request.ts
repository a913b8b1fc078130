// Turns the first SIGINT or SIGTERM into a request to end, and a second one into an exit at once.
// Used by the foreground demo, whose end takes as long as a drain.

// In a terminal the interrupt reaches us twice: from the terminal itself and handed on by npm.
const SAME_SIGNAL_MS = 500;

export interface EndRequest {
  /** Resolves when the end was first asked for. */
  readonly promise: Promise<undefined>;
  isAsked(): boolean;
  ask(): void;
}

/** From now on SIGINT and SIGTERM ask for the end; a second one exits at once with 130. */
export function listenForEnd(): EndRequest {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let isAsked = false;
  let isSecondMeant = false;
  const ask = () => {
    isAsked = true;
    resolve(undefined);
  };
  const onSignal = () => {
    if (isSecondMeant) process.exit(130);
    ask();
    setTimeout(() => {
      isSecondMeant = true;
    }, SAME_SIGNAL_MS).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return { promise, isAsked: () => isAsked, ask };
}
