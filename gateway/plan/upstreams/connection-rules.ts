// Types of the plan for connections to targets: limits, retries, TLS.

/** Per target and process. */
export interface ConnectionRules {
  /** Concurrent requests and WebSockets. */
  readonly max: number;
  /** Length of the queue. 0: no queue. */
  readonly queue: number;
  /** Longest time in the queue, milliseconds. */
  readonly waitMs: number;
}

/** Retries of a request without any octet of a response (FWD-16). */
export interface RetryRules {
  readonly attempts: number;
  /** Share of the upstream's recent requests that may be retries, 0 to 1. */
  readonly budget: number;
}

/** PEM texts. Default: Node's authorities, no client certificate, the host name of the target. */
export interface UpstreamTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Name to find in the certificate, and to send as SNI. */
  readonly name: string | undefined;
}
