// Retry-After in the form every client reads: whole seconds.
// Called by the pipeline for every refusal that time will lift.

/** RL-1: delay-seconds, rounded up and at least 1, so that a client who obeys is not refused again for coming early. */
export function retryAfterSeconds(refused: { readonly retryAfterMs: number }): number {
  return Math.max(1, Math.ceil(refused.retryAfterMs / 1000));
}
