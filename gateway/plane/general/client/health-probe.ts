// One health check: a GET over a new connection, opened like the other connections of the upstream.
import { errorCode } from '../../../upstream/fault-mapping.ts';
import type { Probe } from '../../../upstream/targets/health-checks.ts';
import type { ConnectionAware, Dispatch } from './upstream-call.ts';

/** Octets of the body that are read, so that the connection closes cleanly. The status alone decides the result. */
const MAX_BODY = 65_536;

export function createProbe(dispatchFresh: Dispatch): Probe {
  return ({ upstream, rules, signal }) => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    let abort: ((reason: Error) => void) | undefined;
    let over = false;
    let read = 0;

    function end(found: string | undefined): void {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onStop);
      resolve(found);
    }
    function giveUp(found: string): void {
      if (over) return;
      end(found);
      abort?.(new Error(found));
    }
    const onStop = (): void => giveUp('given up');
    signal.addEventListener('abort', onStop);
    // Reads octets that arrived while this process was busy. A slow gateway does not make a target unhealthy.
    const timer = setTimeout(() => setImmediate(giveUp, 'no answer in time'), rules.timeout).unref();

    const handler: ConnectionAware = {
      connection: undefined,
      onRequestStart(controller) {
        abort = (reason) => controller.abort(reason);
        handler.connection?.expectAnswer();
        // The probe ended while it waited for a connection.
        if (over) abort(new Error('given up'));
      },
      onResponseStart(_controller, status) {
        if (status >= 200) resolve(status < 400 ? undefined : `status ${status}`);
      },
      onResponseData(_controller, chunk) {
        read += chunk.length;
        if (read > MAX_BODY) giveUp('a long answer');
      },
      onResponseEnd: () => end(undefined),
      onResponseError: (_controller, cause) => end(errorCode(cause) ?? 'no HTTP answer'),
    };
    const headers = ['user-agent', 'sundial-health'];
    if (upstream.host !== undefined) headers.push('host', upstream.host);
    dispatchFresh({ path: rules.path, method: 'GET', headers }, handler);
    return promise;
  };
}
