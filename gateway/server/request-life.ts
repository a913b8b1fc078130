// One request from its first line to its observed end: read, judged, answered or forwarded, counted once.
// proxy-listener.ts feeds it from Node's server and from Fastify; HTTP/1 and HTTP/2 come the same way.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ForwardOrder, Refusal } from '../exchange/directive.ts';
import type { Answer } from '../exchange/exchange.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import { METHODS } from '../exchange/request-view.ts';
import { http2StreamOf, type Inbound } from '../forward/inbound.ts';
import { abandonBody, type Connections } from './connections.ts';
import { giveAnswer } from './give-answer.ts';
import { endWithAnswer, hasBody, isComplete, pathOf } from './message.ts';
import { type OpenRequest, openRequest } from './open-request.ts';
import { parserRefusal } from './parser-error.ts';
import { glimpseOf, readRequest } from './request-view.ts';
import type { SlowReaders } from './slow-readers.ts';
import { createTurns } from './turns.ts';
import { refuseOnSocket, type UnparsedPorts } from './unparsed.ts';

export interface RequestLifePorts extends UnparsedPorts {
  readonly mode: 'serve' | 'reject';
  readonly connections: Connections;
  readonly slowReaders: SlowReaders;
  readonly isDraining: () => boolean;
}

/** How a request goes on when it is to be forwarded. */
export type Onward = (inbound: Inbound, order: ForwardOrder, facts: ExchangeFacts) => Promise<void>;

export interface RequestLife {
  /** The first line of a request; undefined on a sealed connection. It may be answered already. */
  readonly begin: (raw: IncomingMessage, res: ServerResponse) => OpenRequest | undefined;
  /** Judges and answers what `begin` returned. Never rejects for what the exchange or the upstream do. */
  readonly run: (open: OpenRequest, onward: Onward) => Promise<void>;
  /** The connection of `open` is a WebSocket from now on: 101 was the answer, and it is observed. */
  readonly onSwitched: (open: OpenRequest) => void;
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

export function createRequestLife(ports: RequestLifePorts): RequestLife {
  const { exchange, observer, connections, clientAddress, scheme } = ports;
  const turns = createTurns(end);

  function begin(raw: IncomingMessage, res: ServerResponse): OpenRequest | undefined {
    const isHttp2 = http2StreamOf(res) !== undefined;
    const { socket } = raw;
    if (!isHttp2 && (connections.isSealed(socket) || turns.latest(socket)?.closeAfter)) return undefined;
    const chain = raw.headers['x-forwarded-for'];
    const client = clientAddress(
      socket.remoteAddress ?? '',
      typeof chain === 'string' ? chain : chain?.join(','),
    );
    const chosen = raw.headers['x-request-id'];
    const requestId = typeof chosen === 'string' && REQUEST_ID.test(chosen) ? chosen : randomUUID();
    const facts = exchange.begin(requestId);
    const context = { scheme, isHttp2, address: client, requestId };
    const reading = readRequest(raw, context);
    const view = reading.kind === 'refused' ? undefined : reading.view;
    const open = openRequest({ raw, res, facts, client, glimpse: view ?? glimpseOf(raw, context), view });
    if (!isHttp2) turns.join(open);
    // WS-1: served as plain HTTP. Node drops what arrived together with an upgrade it ignores, so that the next bytes
    // may be the middle of anything.
    open.closeAfter = !isHttp2 && raw.headers.upgrade !== undefined;
    ports.slowReaders.watch(res);
    res.on('close', () => end(open));
    endWithAnswer(raw, res);
    if (ports.mode === 'reject') {
      refuse(open, { reason: 'plain_http' });
      return open;
    }
    if (reading.kind === 'refused') {
      refuse(open, reading.refusal);
      return open;
    }
    if (reading.kind === 'server') {
      const headers: Answer['headers'] = { allow: ALLOW };
      exchange.decorate(headers, facts, reading.view);
      giveAnswer(open, { status: 204, headers, body: '' }, false, ports);
      return open;
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
      sealConnection: () => {
        open.closeAfter = true;
        connections.seal(socket);
      },
    };
    return open;
  }

  async function run(open: OpenRequest, onward: Onward): Promise<void> {
    const { facts, view, inbound, raw, before } = open;
    const turn = turns.wait(open);
    if (turn !== undefined) await turn;
    if (open.ended || (open.answered && open.onTurn === undefined)) return;
    if (before?.closeAfter) {
      // As if it had never been read: the connection ends before its turn.
      open.closeAfter = true;
      turns.leave(open);
      return;
    }
    open.onTurn?.();
    if (open.answered || view === undefined || inbound === undefined) return;
    try {
      const directive = await exchange.decide(view, facts);
      if (open.gone || open.answered) return;
      if (directive.kind === 'refuse') {
        giveAnswer(open, exchange.refuse(directive.refusal, facts, view), false, ports);
        return;
      }
      if (directive.kind === 'publish') {
        giveAnswer(open, exchange.publish(directive.publication, facts, view), false, ports);
        return;
      }
      if (raw.headers.expect !== undefined && raw.httpVersion !== '1.0' && open.onTurn === undefined)
        open.res.writeContinue();
      await onward(inbound, directive.forward, facts);
    } catch (thrown) {
      if (!open.gone && !open.answered) giveAnswer(open, exchange.fail(thrown, facts, view), false, ports);
    }
  }

  /** A refusal by this listener: the connection is not trusted any further (SMG-26). */
  function refuse(open: OpenRequest, refusal: Refusal): void {
    giveAnswer(open, exchange.refuse(refusal, open.facts, open.glimpse), true, ports);
  }

  function end(open: OpenRequest): void {
    if (open.ended) return;
    turns.leave(open);
    const { raw, res, inbound, view, glimpse, isHttp2, client } = open;
    ports.slowReaders.forget(res);
    const complete = open.switched || isComplete(res);
    if (!complete) {
      open.gone = true;
      if (inbound !== undefined) inbound.gone = true;
      inbound?.onGone?.();
    } else if (
      !isHttp2 &&
      !open.switched &&
      (open.closeAfter || (ports.isDraining() && turns.latest(raw.socket) === open))
    ) {
      if (!raw.complete) abandonBody(raw);
      raw.socket.destroySoon();
    }
    observer.onAnswer(open.facts, {
      method: raw.method ?? '-',
      path: view?.path ?? pathOf(raw),
      status: open.switched ? 101 : res.headersSent ? res.statusCode : CLIENT_LEFT,
      bytes: open.bytes + (inbound?.bytes ?? 0),
      clientAddress: client.full,
      scheme: glimpse.scheme,
      protocol: `HTTP/${raw.httpVersion}`,
      aborted: !complete,
      userAgent: raw.headers['user-agent'],
    });
  }

  function onSwitched(open: OpenRequest): void {
    open.switched = true;
    end(open);
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
    const open = turns.latest(socket);
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
      refuseOnSocket(refusal, socket, ports);
    }
  }

  return { begin, run, onSwitched, refuseUnparsed, refuseTunnel };
}
