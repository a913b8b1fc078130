// The options that start a gateway, and the handle of a running one.
import type { GatewayFacts } from './cli/run/banner.ts';
import type { PolicyReader, ReaderStart } from './plan/loader-thread/reader-contract.ts';
import type { Problem } from './plan/problems.ts';
import type { Environment } from './plan/read/interpolate.ts';
import type { ReloadOutcome } from './plan/reload/watch-contract.ts';
import type { EpochMs } from './policy/contract.ts';
import type { PublicSockets } from './server/public-face.ts';
import type { LogDestination } from './telemetry/logs/log-sink.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

export interface GatewayOptions {
  /** Path of `gateway.yaml`. */
  readonly configFile: string;
  readonly environment: Environment;
  /** The lifecycle clock; undefined: the real time. Tokens, TLS and limits always use the real time. */
  readonly lifecycleClock?: LifecycleClock;
  readonly log: LogDestination;
  /** Of Sundial, for a metric. */
  readonly version?: string;
  /** Folders of the process and printed paths are relative to it; default: the working directory. */
  readonly cwd?: string;
  /** Told of each reload in one line for people, which the log has in full. */
  readonly onReload?: (line: string) => void;
  /** Passed by the service manager, which keeps them open; undefined: the public listeners bind their own. */
  readonly sockets?: PublicSockets | undefined;
  /** What reads the policies of a reload; default: a thread of its own. */
  readonly openReader?: (start: ReaderStart) => PolicyReader;
}

export interface LifecycleClock {
  readonly now: () => EpochMs;
  /** How it was set, for the banner. */
  readonly description: string;
  /** Whether notices that are due by it are sent; false for a rehearsal. */
  readonly isObeyed: boolean;
}

export interface Gateway {
  readonly facts: GatewayFacts;
  readonly logger: Telemetry['logger'];
  /** Reads the policy files and the certificates again; the outcome is in the log and the metrics too. */
  readonly reload: () => Promise<ReloadOutcome>;
  /** How long a drain takes at most, milliseconds. */
  readonly drainMs: number;
  /** Stops accepting, finishes running requests within the bound of a drain, then releases all resources. */
  readonly close: () => Promise<void>;
}

export type Started =
  /** `problems`: warnings, and the errors of files in whose place an accepted form is served. */
  | { readonly kind: 'running'; readonly gateway: Gateway; readonly problems: readonly Problem[] }
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] };
