// The interface between a transport and the rest: requests, responses and the services of the server.
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Server, TlsOptions } from 'node:tls';
import type { HeaderLines } from '../exchange/answer-headers.ts';
import type { Refusal } from '../exchange/directive.ts';
import type { Exchange, Observer } from '../exchange/exchange.ts';
import type { RequestView } from '../exchange/request-view.ts';
import type { Bounds, CountedBound, PlaneName, PlaneReason, ShedReason } from '../plan/bounds.ts';
import type { Address, PlainMode } from '../plan/settings.ts';
import type { ClientCertificate } from '../policy/authentication/access.ts';

export interface Inbound {
  readonly view: RequestView;
  /** Such as `1.1`. */
  readonly httpVersion: string;
  /** Value of X-Forwarded-For: the trusted part of the chain and the peer (XFF-2). */
  readonly forwardedFor: string;
  /** Value of X-Forwarded-Host: the judged authority with its port (XFF-4). */
  readonly forwardedHost: string;
  /** Value of Forwarded. Undefined: not sent (XFF-3). */
  readonly forwarded: string | undefined;
  /** True if the message has framing, for any method (SMG-18). */
  readonly hasBody: boolean;
  readonly body: Readable;
  /** Whether the body ended complete. */
  readonly endedWhole: () => boolean;
  /** Whether chunk framing far outweighs the content (SMG-12). Undefined without chunks. */
  readonly isPadded: (() => boolean) | undefined;
  bytes: number;
  /** True once the client has disconnected before its response was complete. */
  gone: boolean;
  /** Called once when the client disconnects. The forwarder cancels the upstream request here (FWD-17). */
  onGone: (() => void) | undefined;
  /** Calls back when nothing more can be written to the client. Registered later, `listener` is never called. */
  readonly onClosed: (listener: () => void) => void;
}

export interface AnswerSink {
  /** Writes the head before it returns. Throws for invalid values, which become a fault. */
  readonly head: (status: number, headers: HeaderLines) => void;
  /** False: wait for `onDrain` before the next write. */
  readonly write: (chunk: Buffer) => boolean;
  readonly end: () => void;
  /** FWD-17: a truncated response ends with a reset, never cleanly. */
  readonly reset: () => void;
  /** Calls back once. */
  readonly onDrain: (resume: () => void) => void;
}

export interface ClientAddress {
  /** The client's own address, for logs and X-Forwarded-For. */
  readonly full: string;
  /** The IPv4 address, or the /64 network of an IPv6 address, which one subscriber owns. */
  readonly key: string;
  /** For X-Forwarded-For: entries of trusted peers, then the peer. */
  readonly chain: string;
  /** True if the peer is a trusted proxy, whose X-Forwarded-* fields count. */
  readonly viaTrusted: boolean;
  /** True if the peer is this machine or a trusted proxy: plain HTTP from it crosses no foreign network. */
  readonly isNear: boolean;
}

export interface PlaneCounter {
  readonly carried: (plane: PlaneName, reason: PlaneReason) => void;
  /** 1: a plane took over a connection. -1: a connection left the plane. */
  readonly connected: (plane: PlaneName, change: 1 | -1) => void;
}

export interface BoundsCounter {
  readonly refused: (bound: CountedBound) => void;
  readonly shed: (reason: ShedReason) => void;
}

/** Shared by the public listeners: the client address and the bounds of the whole process. */
export interface ListenerLimits {
  readonly bounds: Bounds;
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => ClientAddress;
  /** Called for each connection before the first read. False closes the connection. */
  readonly admits: (socket: Socket) => boolean;
  readonly load: {
    /** Counts a request. Returns why it must be shed, otherwise undefined. */
    readonly begin: () => ShedReason | undefined;
    readonly end: () => void;
  };
  readonly overloaded: () => Refusal;
  /** Counts a WebSocket until it closes, or returns a refusal. `client`: a consumer or an address. */
  readonly takeWebsocket: (socket: Socket, client: string) => Refusal | undefined;
  readonly report: BoundsCounter & PlaneCounter;
}

/** WS-6: closes a WebSocket without traffic in both directions. */
export interface IdleBound {
  readonly afterMs: number;
  /** Called for each closed WebSocket. */
  readonly onIdle: () => void;
}

/** The certificates of both ends of a TLS connection. */
export interface ConnectionCertificates {
  readonly own: { readonly names: readonly string[] } | undefined;
  /** Verified. Undefined if the listener requests no client certificate. */
  readonly client: ClientCertificate | undefined;
}

export interface TlsTermination {
  readonly options: TlsOptions;
  /** Call once with the server created from the options. */
  readonly attach: (server: Server) => void;
  /** Accepts sockets of that server, and the socket proxy of an HTTP/2 session. */
  readonly shown: (socket: Socket) => ConnectionCertificates | undefined;
}

export interface ListenerOptions {
  readonly address: Address;
  /** Descriptor of a shared socket that is bound already. Undefined: the listener binds its own. */
  readonly socket?: number | undefined;
  /** Undefined: plain HTTP. */
  readonly tls: TlsTermination | undefined;
  readonly plane: PlaneName;
  /** Only the plain listener has another mode than `serve` (TLS-5). */
  readonly mode: PlainMode;
  /** Whether upstreams get `Forwarded` in addition to X-Forwarded-* (XFF-3). */
  readonly sendsForwarded: boolean;
  readonly exchange: Exchange;
  readonly observer: Observer;
  readonly limits: ListenerLimits;
  /** The real clock, for the Date of responses that Node does not write. */
  readonly now: () => number;
}

export interface Listener {
  /** Starts accepting. Resolves with the port, for an address with port 0. */
  readonly listen: () => Promise<number>;
  readonly connections: () => number;
  /** Adds `Connection: close` to each response, and still accepts connections. */
  readonly announceEnd: () => void;
  /** Open connections stay open. */
  readonly stopAccepting: () => void;
  /** Stops accepting. Resolves when every connection has closed. */
  readonly stop: () => Promise<void>;
  readonly destroy: () => void;
}
