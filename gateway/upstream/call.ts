// The contract between upstream/ and a plane: connections to one target, and calls over them.
import type { Readable } from 'node:stream';
import type { UpstreamPlan } from '../plan/plan.ts';
import type { AnswerSink } from '../plane/port.ts';
import type { Fields } from '../policy/contract.ts';
import type { StartDeadline } from './deadlines.ts';
import type { NameLookup } from './name-lookup.ts';
import type { UpstreamFields } from './request-headers.ts';
import type { Probe } from './targets/health-checks.ts';

/** The caller may reuse a chunk after `write` returns, so a receiver must copy what it keeps. */
export interface Delivery extends Pick<AnswerSink, 'head' | 'write' | 'end'> {
  /** Called last in every case. Releases held resources. */
  readonly discard?: () => void;
}

export interface CallFailure {
  readonly cause: unknown;
  /** There was no connection, so no byte of the request was sent. */
  readonly unsent: boolean;
  readonly unanswered: boolean;
  /** On a reused connection, which the upstream may have closed while the request was sent. */
  readonly stale: boolean;
}

export interface CallRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: UpstreamFields;
  readonly received: Fields;
  readonly body: Readable | Buffer | null;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
}

export interface CallOptions {
  readonly request: CallRequest;
  /** On a new connection that is closed after the response. */
  readonly fresh: boolean;
  readonly upstream: UpstreamPlan;
  readonly delivery: Delivery;
  /** A connection accepts the request. From now on the target may have received a part of it. */
  readonly onSending: () => void;
  /** Calls back once when the client accepts more bytes, after `delivery` refused more. */
  readonly onceDrained: (resume: () => void) => void;
  readonly onAnswered: () => void;
  /** At most one of these two is called, and none after the call was aborted. */
  readonly onEnd: () => void;
  readonly onFailure: (failure: CallFailure) => void;
}

export interface TargetConnections {
  /** Starts a call and returns its abort function. After an abort the upstream never sees a complete request. */
  readonly call: (options: CallOptions) => (reason: Error) => void;
  readonly probe: Probe;
  /** Closes connections to addresses not in this set, each after its call. */
  readonly follow: (addresses: ReadonlySet<string>) => void;
  /** Closes all connections after their calls. A later call gets its own connection. */
  readonly retire: () => void;
  readonly destroy: () => Promise<void>;
}

export interface TargetPorts {
  readonly names: NameLookup;
  readonly startDeadline: StartDeadline;
  /** PEM bundle for upstreams without their own authorities. Default: Node's. */
  readonly ca?: string | undefined;
}

export type ConnectTarget<C extends TargetConnections> = (
  origin: string,
  upstream: UpstreamPlan,
  ports: TargetPorts,
) => C;
