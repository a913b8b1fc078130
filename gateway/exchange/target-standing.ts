// What is told of the targets of upstreams: which are in service, and each change of that.
// Said by upstream/, shown by telemetry/.

/** A target that a health check or a breaker watches. */
export interface TargetStanding {
  /** Alias of the upstream. */
  readonly upstream: string;
  /** Its address as the policy file has it. */
  readonly target: string;
  readonly up: boolean;
}

/** A target has gone out of service, or is back in it, as far as `by` is concerned. */
export interface TargetChange extends TargetStanding {
  readonly by: 'health' | 'breaker';
  /** What the check that decided it found; undefined where it was good, and of a breaker. */
  readonly why: string | undefined;
}
