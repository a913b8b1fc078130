// How a target of an upstream is chosen, ejected and restored: types of the plan.

export interface TargetRules {
  /** How one of several targets is chosen; `consumer` sends the same caller to the same target. */
  readonly balance: 'round-robin' | 'least-requests' | 'consumer';
  /** In which the share of a target that comes back grows from nothing to whole; 0: at once. */
  readonly slowStart: number;
  /** Undefined: nothing is asked of a target but what clients ask. */
  readonly health: HealthRules | undefined;
  /** Undefined: no failure takes a target out. */
  readonly breaker: BreakerRules | undefined;
}

/** How each target is asked whether it is well. */
export interface HealthRules {
  /** Asked for with GET; 2xx and 3xx mean well. */
  readonly path: string;
  /** From the begin of one check to that of the next, which waits for the end of the first. */
  readonly every: number;
  /** For a whole check, the connection included. */
  readonly timeout: number;
  /** Good checks in a row that bring a target back. */
  readonly healthy: number;
  /** Failed checks in a row that take it out. */
  readonly unhealthy: number;
}

/** When failed requests take a target out, and for how long. */
export interface BreakerRules {
  /** Failures in a row. */
  readonly failures: number;
  /** Until one request may try it again. */
  readonly open: number;
  /** Whether it may take out the last target too; by default it never does. */
  readonly strict: boolean;
}
