// The trace a request belongs to (W3C Trace Context), as far as anybody but its maker needs to know.
// Made by telemetry/ as a request begins; told to the upstream, named in the log.

export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** What the upstream gets: the gateway's own place in the trace where it has one, else the client's. */
  readonly traceparent: string;
  /** Of the vendors before us, verbatim; undefined where there is none. */
  readonly tracestate: string | undefined;
}
