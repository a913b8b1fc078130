// How connections to the targets of an upstream are made and what may pass: types of the plan.

/** Of one target, in one process. */
export interface ConnectionRules {
  /** Requests and WebSockets at the same time. */
  readonly max: number;
  /** Those that may wait for their turn; 0: none. */
  readonly queue: number;
  /** How long one waits at most, milliseconds. */
  readonly waitMs: number;
}

/** When a request that got no byte of an answer is sent once more (FWD-16). */
export interface RetryRules {
  readonly attempts: number;
  /** Share of the upstream's recent requests that may be such, 0 to 1. */
  readonly budget: number;
}

/** PEM texts. What is left out is what Node has: its own authorities, no certificate, the name of the target. */
export interface UpstreamTls {
  /** Believed instead of Node's own authorities. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** What the certificate must speak for, and what is sent as server name. */
  readonly name: string | undefined;
}
