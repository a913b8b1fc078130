// One request from its first line to its observed end: read, judged, answered or forwarded, counted once.
// proxy-listener.ts feeds it from Node's server and from Fastify; HTTP/1 and HTTP/2 come the same way.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../exchange/directive.ts';
import type { Answer, Exchange, Observer } from '../exchange/exchange.ts';
import type { Forwarder, ReplyWithFrom } from '../forward/forwarder.ts';
import { http2StreamOf } from '../forward/inbound.ts';
import type { ClientAddress } from './client-address.ts';
import { abandonBody, type Connections } from './connections.ts';
import { giveAnswer } from './give-answer.ts';
import { hasBody, isComplete, pathOf } from './message.ts';
import { type OpenRequest, openRequest } from './open-request.ts';
import { parserRefusal } from './parser-error.ts';
import { METHODS, readRequest } from './request-view.ts';
import { writeToSocket } from './write-answer.ts';

export interface RequestLifePorts {
  readonly scheme: 'https' | 'http';
  readonly mode: 'serve' | 'reject';
  readonly exchange: Exchange;
  readonly observer: Observer;
  readonly forwarder: Forwarder;
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => ClientAddress;
  readonly connections: Connections;
  readonly isDraining: () => boolean;
  /** The real clock, epoch milliseconds, for the Date of answers that Node does not write. */
  readonly now: () => number;
}

export interface RequestLife {
  /** The first line of a request; undefined when it is over already: refused, or on a sealed connection. */
  readonly begin: (raw: IncomingMessage, res: ServerResponse) => OpenRequest | undefined;
  /** Judges and answers what `begin` returned. Never rejects for what the exchange or the upstream do. */
  readonly run: (open: OpenRequest, reply: ReplyWithFrom) => Promise<void>;
  /** The parser or a deadline refused; the bytes that follow cannot be understood (ERR-3). */
  readonly refuseUnparsed: (error: Error, socket: Socket) => void;
  /** An HTTP/1 CONNECT, which Node hands over without a response object (FWD-8). */
  readonly refuseTunnel: (raw: IncomingMessage) => void;
}

// ERR-7: what a client may choose as its request id.
const REQUEST_ID = /^[A-Za-z0-9-]{8,64}$/;
const ALLOW = METHODS.join(', ');
const TUNNEL: Refusal = { reason: 'method_unknown', method: 'CONNECT' };
/** What is observed for a client that left before any status was sent. */
const CLIENT_LEFT = 499;
const NO_ERROR = 0;

export function createRequestLife(ports: RequestLifePorts): RequestLife {
  const { exchange, observer, forwarder, connections, clientAddress, scheme } = ports;
  const latest = new WeakMap<Socket, OpenRequest>();

  function begin(raw: IncomingMessage, res: ServerResponse): OpenRequest | undefined {
    const isHttp2 = http2StreamOf(res) !== undefined;
    const { socket } = raw;
    if (!isHttp2 && (connections.isSealed(socket) || latest.get(socket)?.closeAfter)) return undefined;
    const chain = raw.headers['x-forwarded-for'];
    const client = clientAddress(
      socket.remoteAddress ?? '',
      typeof chain === 'string' ? chain : chain?.join(','),
    );
    const chosen = raw.headers['x-request-id'];
    const requestId = typeof chosen === 'string' && REQUEST_ID.test(chosen) ? chosen : randomUUID();
    const facts = exchange.begin(requestId);
    const reading = readRequest(raw, { scheme, isHttp2, address: client, requestId });
    const open = openRequest(raw, res, facts, reading.kind === 'refused' ? undefined : reading.view);
    if (!isHttp2) latest.set(socket, open);
    // WS-1: served as plain HTTP. Node drops what arrived together with an upgrade it ignores, so that the next bytes
    // may be the middle of anything.
    open.closeAfter = !isHttp2 && raw.headers.upgrade !== undefined;
    res.on('close', () => end(open, client));
    // RFC 9113 §8.1: with the answer complete the rest of a body is not wanted, and the stream need not wait for it.
    const stream = http2StreamOf(res);
    if (stream !== undefined && hasBody(raw, res)) {
      stream.once('finish', () => {
        if (!raw.readableEnded) stream.close(NO_ERROR);
      });
    }
    if (ports.mode === 'reject') {
      refuse(open, { reason: 'plain_http' });
      return undefined;
    }
    if (reading.kind === 'refused') {
      refuse(open, reading.refusal);
      return undefined;
    }
    if (reading.kind === 'server') {
      const headers: Answer['headers'] = { allow: ALLOW };
      exchange.decorate(headers, facts, reading.view);
      giveAnswer(open, { status: 204, headers, body: '' }, false, ports);
      return undefined;
    }
    open.inbound = {
      raw,
      res,
      view: reading.view,
      forwardedFor: client.chain,
      forwardedHost: reading.forwardedHost,
      hasBody: hasBody(raw, res),
      mustClose: () => open.closeAfter || ports.isDraining(),
      bytes: 0,
      gone: false,
      onGone: undefined,
      sealConnection: () => connections.seal(socket),
    };
    return open;
  }

  async function run(open: OpenRequest, reply: ReplyWithFrom): Promise<void> {
    const { facts, view, inbound, raw } = open;
    if (view === undefined || inbound === undefined) return;
    try {
      const directive = await exchange.decide(view, facts);
      if (open.gone || open.answered) return;
      if (directive.kind === 'refuse') {
        giveAnswer(open, exchange.refuse(directive.refusal, facts, view), false, ports);
        return;
      }
      if (raw.headers.expect !== undefined && raw.httpVersion !== '1.0') open.res.writeContinue();
      await forwarder.forward(inbound, reply, directive.forward, facts);
    } catch (thrown) {
      if (!open.gone && !open.answered) giveAnswer(open, exchange.fail(thrown, facts, view), false, ports);
    }
  }

  /** A refusal by this listener: the connection is not trusted any further (SMG-26). */
  function refuse(open: OpenRequest, refusal: Refusal): void {
    giveAnswer(open, exchange.refuse(refusal, open.facts, open.view), true, ports);
  }

  function end(open: OpenRequest, client: ClientAddress): void {
    const { raw, res, inbound, view, isHttp2 } = open;
    const complete = isComplete(res);
    if (!complete) {
      open.gone = true;
      if (inbound !== undefined) inbound.gone = true;
      inbound?.onGone?.();
    } else if (!isHttp2 && (ports.isDraining() || connections.isSealed(raw.socket))) {
      if (!raw.complete) abandonBody(raw);
      raw.socket.destroySoon();
    }
    observer.onAnswer(open.facts, {
      method: raw.method ?? '-',
      path: view?.path ?? pathOf(raw),
      status: res.headersSent ? res.statusCode : CLIENT_LEFT,
      bytes: open.bytes + (inbound?.bytes ?? 0),
      clientAddress: client.full,
      scheme: view?.scheme ?? scheme,
      protocol: `HTTP/${raw.httpVersion}`,
      aborted: !complete,
      userAgent: raw.headers['user-agent'],
    });
  }

  function refuseUnparsed(error: Error, socket: Socket): void {
    const refusal = parserRefusal(error);
    if (refusal === undefined) socket.destroy();
    else refuseRest(refusal, socket);
  }

  function refuseTunnel({ socket }: IncomingMessage): void {
    refuseRest(ports.mode === 'reject' ? { reason: 'plain_http' } : TUNNEL, socket);
  }

  /** Whatever else comes on this HTTP/1 connection is not read as a request. */
  function refuseRest(refusal: Refusal, socket: Socket): void {
    if (connections.isSealed(socket)) return;
    connections.seal(socket);
    const open = latest.get(socket);
    const pending = open !== undefined && !open.res.writableFinished;
    if (pending && open.raw.complete) {
      // The error is in a later request: what was asked before it still gets its answer.
      open.closeAfter = true;
    } else if (pending && open.res.headersSent) {
      socket.destroy();
    } else if (pending) {
      refuse(open, refusal);
      open.inbound?.onGone?.();
    } else {
      refuseOnSocket(refusal, socket);
    }
  }

  function refuseOnSocket(refusal: Refusal, socket: Socket): void {
    const client = clientAddress(socket.remoteAddress ?? '', undefined);
    const facts = exchange.begin(randomUUID());
    const made = exchange.refuse(refusal, facts, undefined);
    writeToSocket(socket, made, new Date(ports.now()).toUTCString());
    observer.onAnswer(facts, {
      method: '-',
      path: '-',
      status: made.status,
      bytes: Buffer.byteLength(made.body),
      clientAddress: client.full,
      scheme,
      protocol: 'HTTP/1.1',
      aborted: false,
      userAgent: undefined,
    });
  }

  return { begin, run, refuseUnparsed, refuseTunnel };
}
