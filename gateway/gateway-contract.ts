// The options that start a gateway, and the handle of a running one.
import type { GatewayFacts } from './cli/run/banner.ts';
import type { PolicyReader, ReaderStart } from './plan/loader-thread/reader-contract.ts';
import type { Problem } from './plan/problems.ts';
import type { Environment } from './plan/read/interpolate.ts';
import type { ReloadOutcome } from './plan/reload/watch-contract.ts';
import type { EpochMs } from './policy/contract.ts';
import type { PublicSockets } from './server/public-listeners.ts';
import type { LogDestination } from './telemetry/logs/log-sink.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

export interface GatewayOptions {
  /** Path of `gateway.yaml`. */
  readonly configFile: string;
  readonly environment: Environment;
  /** Undefined: the real time. Tokens, TLS and limits always use the real time. */
  readonly lifecycleClock?: LifecycleClock;
  readonly log: LogDestination;
  /** Of Sundial, for a metric. */
  readonly version?: string;
  /** Base of the process's folders and of printed paths. Default: the working directory. */
  readonly cwd?: string;
  /** Gets one line per reload, for people. The log has the details. */
  readonly onReload?: (line: string) => void;
  /** Sockets from the service manager. Undefined: the public listeners bind their own. */
  readonly sockets?: PublicSockets | undefined;
  /** Reads the policies of a reload. Default: a thread. */
  readonly openReader?: (start: ReaderStart) => PolicyReader;
}

export interface LifecycleClock {
  readonly now: () => EpochMs;
  /** How it was set, for the banner. */
  readonly description: string;
  /** Whether notices due by this clock are sent. False for a rehearsal. */
  readonly isObeyed: boolean;
}

export interface Gateway {
  readonly facts: GatewayFacts;
  readonly logger: Telemetry['logger'];
  /** Reads policy files and certificates again. Log and metrics also show the outcome. */
  readonly reload: () => Promise<ReloadOutcome>;
  /** The longest drain in milliseconds. */
  readonly drainMs: number;
  /** Stops accepting, finishes running requests within the drain timeout, then releases all resources. */
  readonly close: () => Promise<void>;
}

export type Started =
  /** `problems`: warnings, and errors of files whose earlier accepted form is in force instead. */
  | { readonly kind: 'running'; readonly gateway: Gateway; readonly problems: readonly Problem[] }
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] };
