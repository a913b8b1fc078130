// What a transport gives and takes: requests, answers, and what the server hands to it.
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
  /** Of the message received, such as `1.1`. */
  readonly httpVersion: string;
  /** What X-Forwarded-For becomes: the trusted part of the chain and the peer (XFF-2). */
  readonly forwardedFor: string;
  /** What X-Forwarded-Host becomes: the judged authority with its port (XFF-4). */
  readonly forwardedHost: string;
  /** What Forwarded becomes; undefined: none is sent (XFF-3). */
  readonly forwarded: string | undefined;
  /** True when the message has framing, whatever its method (SMG-18). */
  readonly hasBody: boolean;
  readonly body: Readable;
  /** Whether a body that has ended has ended whole. */
  readonly endedWhole: () => boolean;
  /** Whether the framing of its chunks is out of all proportion to what is in them (SMG-12); absent where there are none. */
  readonly isPadded: (() => boolean) | undefined;
  bytes: number;
  /** True once the client has left before its answer was complete. */
  gone: boolean;
  /** Called once when the client leaves; the forwarder cancels the upstream here (FWD-17). */
  onGone: (() => void) | undefined;
  /** Calls back when nothing more can be written to the client; never after that has happened. */
  readonly onClosed: (listener: () => void) => void;
}

export interface AnswerSink {
  /** The client's head is written before this returns. What may not be written throws, and becomes a fault. */
  readonly head: (status: number, headers: HeaderLines) => void;
  /** False: no more before the client's side has drained. */
  readonly write: (chunk: Buffer) => boolean;
  readonly end: () => void;
  /** FWD-17: a truncated answer must look truncated: reset, never a clean end. */
  readonly reset: () => void;
  /** Calls back once, when the client's side takes bytes again. */
  readonly onDrain: (resume: () => void) => void;
}

export interface ClientAddress {
  /** The client's own address, for logs and X-Forwarded-For. */
  readonly full: string;
  /** The same for IPv4; the /64 network for IPv6, which one subscriber owns whole. */
  readonly key: string;
  /** The forwarded chain for the upstream: entries of trusted peers, then the peer. */
  readonly chain: string;
  /** True when the peer is a trusted proxy, so that its X-Forwarded-* fields count. */
  readonly viaTrusted: boolean;
  /** True when the peer is this machine or a trusted proxy: what it sends in the clear crosses no strange network. */
  readonly isNear: boolean;
}

export interface PlaneCounter {
  readonly carried: (plane: PlaneName, reason: PlaneReason) => void;
  /** A connection has come to a plane, 1, or has left it, -1. */
  readonly connected: (plane: PlaneName, change: 1 | -1) => void;
}

export interface BoundsCounter {
  readonly refused: (bound: CountedBound) => void;
  readonly shed: (reason: ShedReason) => void;
}

/** What the public listeners share: who the client is, and how much all of them together may hold. */
export interface ListenerLimits {
  readonly bounds: Bounds;
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => ClientAddress;
  /** Asked for every connection before anything is read from it; false closes it. */
  readonly admits: (socket: Socket) => boolean;
  readonly load: {
    /** A request has begun. Why it must be refused, undefined when it need not. */
    readonly begin: () => ShedReason | undefined;
    readonly end: () => void;
  };
  /** The refusal of a request that this process has no room for. */
  readonly overloaded: () => Refusal;
  /** Counts a connection that becomes a WebSocket until it closes, unless it is refused. `client`: a consumer or an address. */
  readonly takeWebsocket: (socket: Socket, client: string) => Refusal | undefined;
  readonly report: BoundsCounter & PlaneCounter;
}

/** WS-6: how long a WebSocket may be quiet in both directions. */
export interface IdleBound {
  readonly afterMs: number;
  /** Told of each one that is closed for it. */
  readonly onIdle: () => void;
}

/** What both ends of a TLS connection have shown each other. */
export interface ConnectionCertificates {
  readonly own: { readonly names: readonly string[] } | undefined;
  /** Proven; undefined where the client is not asked for one. */
  readonly client: ClientCertificate | undefined;
}

export interface TlsTermination {
  readonly options: TlsOptions;
  /** To be called once with the server that was made of the options. */
  readonly attach: (server: Server) => void;
  /** Of a connection of that server; HTTP/2's stand-in for a socket is taken too. */
  readonly shown: (socket: Socket) => ConnectionCertificates | undefined;
}

export interface ListenerOptions {
  readonly address: Address;
  /** Descriptor of a socket that is bound already, and shared; undefined: it binds one of its own. */
  readonly socket?: number | undefined;
  /** Undefined: plain HTTP. */
  readonly tls: TlsTermination | undefined;
  readonly plane: PlaneName;
  /** Other than `serve` for the plain listener only (TLS-5). */
  readonly mode: PlainMode;
  /** Whether upstreams get `Forwarded` besides X-Forwarded-* (XFF-3). */
  readonly sendsForwarded: boolean;
  readonly exchange: Exchange;
  readonly observer: Observer;
  readonly limits: ListenerLimits;
  /** The real clock, for the Date of answers that Node does not write. */
  readonly now: () => number;
}

export interface Listener {
  /** Starts accepting; resolves with the port, which matters when the address said 0. */
  readonly listen: () => Promise<number>;
  readonly connections: () => number;
  /** Says with every answer that no more requests are wanted here; goes on accepting them. */
  readonly announceEnd: () => void;
  /** Accepts no more connections; those that are open go on. */
  readonly stopAccepting: () => void;
  /** Stops accepting; resolves when every connection has ended. */
  readonly stop: () => Promise<void>;
  readonly destroy: () => void;
}
