// Types of the plan for targets: balancing, health checks, circuit breaker. Times are milliseconds.

export interface TargetRules {
  /** `consumer` sends the same caller to the same target. */
  readonly balance: 'round-robin' | 'least-requests' | 'consumer';
  /** Time in which the share of a restored target grows to its full size. 0: immediately. */
  readonly slowStart: number;
  /** Undefined: no health checks. */
  readonly health: HealthRules | undefined;
  /** Undefined: no circuit breaker. */
  readonly breaker: BreakerRules | undefined;
}

export interface HealthRules {
  /** Requested with GET. 2xx and 3xx are healthy. */
  readonly path: string;
  /** Between the starts of two checks. A check never starts before the previous one has ended. */
  readonly every: number;
  readonly timeout: number;
  /** Successful checks in a row that restore a target. */
  readonly healthy: number;
  /** Failed checks in a row that eject a target. */
  readonly unhealthy: number;
}

/** When failed requests eject a target, and for how long. */
export interface BreakerRules {
  readonly failures: number;
  /** Time until one request may try the target again. */
  readonly open: number;
  /** Whether the last target may be ejected too. Default: no. */
  readonly strict: boolean;
}
