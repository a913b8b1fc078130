// How the targets of one upstream are reached, with the defaults filled in.
// Part of compiling an upstream; upstream/ goes by what comes out.
import type { ConnectionRules, RetryRules } from '../connection-rules.ts';
import type { UpstreamFile } from '../grammar/policy-grammar.ts';
import type { UpstreamPlan } from '../plan.ts';

const DEFAULT_CONNECTIONS: ConnectionRules = { max: 256, queue: 1_024, waitMs: 1_000 };
const DEFAULT_RETRIES: RetryRules = { attempts: 1, budget: 0.2 };

/** The texts of certificates and keys stand in `file` in place of their paths by now. */
export function compileConnectionRules(
  file: UpstreamFile,
): Pick<UpstreamPlan, 'host' | 'connections' | 'retries' | 'http2' | 'tls'> {
  const { connections, retries = {}, tls } = file;
  return {
    host: file.host,
    connections: {
      max: connections?.max ?? DEFAULT_CONNECTIONS.max,
      queue: connections?.queue ?? DEFAULT_CONNECTIONS.queue,
      waitMs: connections?.wait ?? DEFAULT_CONNECTIONS.waitMs,
    },
    retries:
      retries === 'off'
        ? undefined
        : {
            attempts: retries.attempts ?? DEFAULT_RETRIES.attempts,
            budget: retries.budget ?? DEFAULT_RETRIES.budget,
          },
    http2: file.http2 ?? false,
    tls: tls && { ca: tls.ca, cert: tls.cert, key: tls.key, name: tls.name },
  };
}
