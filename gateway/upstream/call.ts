// What upstream/ asks of a plane: connections to one target, calls over them, and what becomes of each call.
import type { Readable } from 'node:stream';
import type { UpstreamPlan } from '../plan/plan.ts';
import type { AnswerSink } from '../plane/port.ts';
import type { Fields } from '../policy/contract.ts';
import type { StartDeadline } from './deadlines.ts';
import type { NameLookup } from './name-lookup.ts';
import type { UpstreamFields } from './request-headers.ts';
import type { Probe } from './targets/health-checks.ts';

/**
 * How an answer reaches the client: its head, then its bytes, then its end. The bytes may be reused after `write` returns, so a
 * receiver that keeps them must copy them.
 */
export interface Delivery extends Pick<AnswerSink, 'head' | 'write' | 'end'> {
  /** After the last of these, whatever it was: nothing is kept any more. */
  readonly discard?: () => void;
}

/** What is known of a call that failed before the client had anything of it. */
export interface CallFailure {
  readonly cause: unknown;
  /** Not a byte of the request has left: there never was a connection. */
  readonly unsent: boolean;
  readonly unanswered: boolean;
  /** It had served others before: the upstream may have ended it while this request was under way. */
  readonly stale: boolean;
}

export interface CallRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: UpstreamFields;
  /** As the client sent them: what a reader of requests has let pass can be written as it is. */
  readonly received: Fields;
  readonly body: Readable | Buffer | null;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
}

export interface CallOptions {
  readonly request: CallRequest;
  /** On a connection that nothing was sent on before, and that ends with the answer. */
  readonly fresh: boolean;
  readonly upstream: UpstreamPlan;
  readonly delivery: Delivery;
  /** A connection takes the request: from now on the target may know of it. */
  readonly onSending: () => void;
  /** Called when the client's side takes bytes again, once for each time that `delivery` refused more. */
  readonly onceDrained: (resume: () => void) => void;
  readonly onAnswered: () => void;
  /** At most one of these two, and neither after the call was given up. */
  readonly onEnd: () => void;
  readonly onFailure: (failure: CallFailure) => void;
}

/** All connections to one target. */
export interface TargetConnections {
  /** Starts a call and returns how to give it up: the upstream then never sees the request as complete. */
  readonly call: (options: CallOptions) => (reason: Error) => void;
  /** One health check, on a connection of its own. */
  readonly probe: Probe;
  /** Lets go of connections that lead elsewhere, each when its call is done. */
  readonly follow: (addresses: ReadonlySet<string>) => void;
  /** Lets go of all; a call that comes later gets a connection of its own. */
  readonly retire: () => void;
  /** Ends all at once. */
  readonly destroy: () => Promise<void>;
}

/** What the connections to all targets have in common. */
export interface TargetPorts {
  readonly names: NameLookup;
  readonly startDeadline: StartDeadline;
  /** PEM bundle for upstreams that name no authority of their own; default: Node's. */
  readonly ca?: string | undefined;
}

export type ConnectTarget<C extends TargetConnections> = (
  origin: string,
  upstream: UpstreamPlan,
  ports: TargetPorts,
) => C;
