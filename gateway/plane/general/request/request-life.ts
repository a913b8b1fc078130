// Runs one request: reads it, judges it, answers or forwards it, and reports it once.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { HeaderLines } from '../../../exchange/answer-headers.ts';
import type { Directive, Refusal } from '../../../exchange/directive.ts';
import type { ExchangeFacts } from '../../../exchange/facts.ts';
import { OFFERED_METHODS, RecordFields } from '../../../exchange/request-view.ts';
import { clientOf } from '../../client-connection.ts';
import { glimpseOf, refusalAtOnce, requestIdOf } from '../../request-reading.ts';
import { createSlowClients, SLOW_BODY } from '../../slow-clients.ts';
import { refusedBound, refuseOnSocket } from '../../socket-refusal.ts';
import { abandonBody } from '../connection/connections.ts';
import { endWithAnswer, http2StreamOf, inboundOf, isComplete, outcomeOf, planeReason } from './message.ts';
import {
  connectionFacts,
  joinPipeline,
  leavePipeline,
  type MessageConnection,
  type NodeInbound,
  OpenRequest,
  openOn,
  previousEnded,
  type RequestPorts,
} from './open-request.ts';
import { nodeRequests } from './progress.ts';
import { readRequest } from './request-view.ts';
import { createUnreadable, type Unreadable } from './unreadable.ts';
import { sendAnswer } from './write-answer.ts';

/** Forwards a request, or replays a stored response. Resolves with a refusal that is found on the way. */
export type ForwardJudged = (
  inbound: NodeInbound,
  directive: Extract<Directive, { kind: 'forward' | 'replay' }>,
  facts: ExchangeFacts,
) => Promise<Refusal | undefined>;

export interface RequestLife extends Unreadable {
  readonly watch: (socket: Socket, message?: MessageConnection) => void;
  /** Call at the first line of a request. Undefined on a sealed connection. The result may be answered already. */
  readonly begin: (raw: IncomingMessage, res: ServerResponse) => OpenRequest | undefined;
  /** Judges and answers what `begin` returned. Failures of the exchange or the upstream never reject. */
  readonly run: (open: OpenRequest, forward: ForwardJudged) => Promise<void>;
  readonly isBusy: (socket: Socket) => boolean;
  readonly onSwitched: (open: OpenRequest) => void;
  readonly stop: () => void;
}

const ALLOW = OFFERED_METHODS.join(', ');
const TUNNEL: Refusal = { reason: 'method_unknown', method: 'CONNECT' };

export function createRequestLife(ports: RequestPorts): RequestLife {
  const { exchange, observer, limits, scheme, sessions, tls } = ports;
  const { bounds, clientAddress, load, report } = limits;
  const slowClients = createSlowClients<OpenRequest>(bounds, {
    ...nodeRequests,
    onCut: () => report.refused('unread'),
    onSlowBody: refuseSlow,
  });

  const connectionOf = (socket: Socket, message?: MessageConnection) =>
    connectionFacts(socket, clientAddress, tls, message);

  function watch(socket: Socket, message?: MessageConnection): void {
    const connection = connectionOf(socket, message);
    socket.once('close', () => openOn(connection).forEach(end));
  }

  function begin(raw: IncomingMessage, res: ServerResponse): OpenRequest | undefined {
    const isHttp2 = http2StreamOf(res) !== undefined;
    const connection = connectionOf(raw.socket);
    if (!isHttp2) {
      const before = connection.latest;
      if (connection.isSealed || before?.closeAfter) return undefined;
      if (before !== undefined && connection.unanswered >= bounds.pipelined) {
        // The request is not read. The connection closes after the last response, so the client repeats the request
        // (RFC 9112 §9.3.2).
        before.closeAfter = true;
        report.refused('pipelined');
        return undefined;
      }
    }
    const shed = load.begin();
    report.carried('general', planeReason(raw, isHttp2, ports.plane));
    const client = clientOf(connection, raw.headers['x-forwarded-for'], clientAddress);
    const requestId = requestIdOf(raw);
    const headers = new RecordFields(raw.headers);
    const facts = exchange.begin(requestId, headers);
    const { trace } = facts.start;
    const context = { scheme, isHttp2, connection, address: client, requestId, trace, bounds, headers };
    const reading = readRequest(raw, context);
    const view = reading.kind === 'refused' ? undefined : reading.view;
    const glimpse = view ?? glimpseOf(context);
    const open = new OpenRequest({ raw, res, isHttp2, facts, connection, client, glimpse, view });
    if (!isHttp2) joinPipeline(open);
    // WS-1: served as plain HTTP. Node drops octets that arrived with an ignored upgrade, so the next octets
    // may begin in the middle of a message.
    open.closeAfter = !isHttp2 && raw.headers.upgrade !== undefined;
    slowClients.watch(open);
    res.on('close', () => end(open));
    endWithAnswer(raw, res);
    const refusal = refusalAtOnce(open, reading, shed, ports);
    if (refusal !== undefined) {
      refuse(open, refusal);
    } else if (reading.kind === 'view') {
      open.inbound = inboundOf(open, reading, ports);
      if (open.inbound.hasBody) open.arriving = { waited: 0, bytes: 0, counts: false };
    } else if (reading.kind === 'server') {
      const headers = new HeaderLines({ allow: ALLOW });
      exchange.decorate(204, headers, facts, reading.view);
      sendAnswer(open, { status: 204, headers, body: '' }, false, ports);
    }
    return open;
  }

  async function run(open: OpenRequest, forward: ForwardJudged): Promise<void> {
    const { facts, view, inbound, raw, before } = open;
    const waiting = previousEnded(open);
    if (waiting !== undefined) await waiting.then(() => exchange.resume(facts));
    // H2-6: a reset that arrived with the request is read by then, and no work is wasted.
    if (open.isHttp2 && sessions.hasReset(http2StreamOf(open.res)?.session)) await nextRound();
    if (open.ended || (open.answered && open.attach === undefined)) return;
    if (before?.closeAfter) {
      // The connection closes before this request would get a response, as if the request had not been read.
      open.closeAfter = true;
      finish(open);
      return;
    }
    open.attach?.();
    if (open.answered || view === undefined || inbound === undefined) return;
    try {
      const deciding = exchange.decide(view, facts);
      const directive = deciding instanceof Promise ? await deciding : deciding;
      if (open.gone || open.answered) {
        if (directive.kind === 'forward') directive.forward.claim?.release();
        return;
      }
      if (directive.kind === 'refuse') {
        sendAnswer(open, exchange.refuse(directive.refusal, facts, view), false, ports);
        return;
      }
      if (directive.kind === 'publish') {
        sendAnswer(open, exchange.publish(directive.publication, facts, view), false, ports);
        return;
      }
      if (raw.headers.expect !== undefined && raw.httpVersion !== '1.0' && open.attach === undefined)
        open.res.writeContinue();
      const refusal = await forward(inbound, directive, facts);
      const mustClose = refusal?.reason === 'request_malformed'; // SMG-26: its body had malformed framing.
      if (refusal !== undefined && !open.gone && !open.answered)
        sendAnswer(open, exchange.refuse(refusal, facts, view), mustClose, ports);
    } catch (thrown) {
      if (!open.gone && !open.answered) sendAnswer(open, exchange.fail(thrown, facts, view), false, ports);
    }
  }

  function countRefusal(refusal: Refusal, headerWords = 0): void {
    const bound = refusedBound(refusal, headerWords > 2 * bounds.headerFields);
    if (bound !== undefined) report.refused(bound);
  }

  /** Refuses in the listener and closes the connection (SMG-26). */
  function refuse(open: OpenRequest, refusal: Refusal): void {
    countRefusal(refusal, open.raw.rawHeaders.length);
    sendAnswer(open, exchange.refuse(refusal, open.facts, open.glimpse), true, ports);
  }

  function finish(open: OpenRequest): void {
    leavePipeline(open);
    if (open.closeAfter) open.connection.isSealed = true;
    load.end();
    slowClients.forget(open);
  }

  function end(open: OpenRequest): void {
    if (open.ended) return;
    finish(open);
    const { raw, res, inbound, isHttp2 } = open;
    const complete = open.switched || isComplete(res);
    const isLast = open.closeAfter || (ports.isEnding() && open.connection.unanswered === 0);
    if (!complete) {
      open.gone = true;
      if (inbound !== undefined) inbound.gone = true;
      inbound?.onGone?.();
    } else if (isLast && !isHttp2 && !open.switched) {
      if (!raw.complete) abandonBody(raw);
      raw.socket.destroySoon();
    } else open.connection.onKept?.();
    observer.onAnswer(open.facts, outcomeOf(open, complete));
  }

  function onSwitched(open: OpenRequest): void {
    open.switched = true;
    end(open);
  }

  /** An early response of the upstream is not replaced. */
  function refuseSlow(open: OpenRequest): void {
    if (open.answered || open.res.headersSent) return;
    report.refused('body_rate');
    sendAnswer(open, exchange.refuse(SLOW_BODY, open.facts, open.glimpse), true, ports);
    open.inbound?.onGone?.();
  }

  const tunnel: Refusal = ports.mode !== 'serve' ? { reason: 'plain_http' } : TUNNEL;
  const unreadable = createUnreadable(tunnel, connectionOf, refuse, (refusal, socket) => {
    countRefusal(refusal);
    refuseOnSocket(refusal, socket, connectionOf(socket).peer, ports);
  });

  const isBusy = (socket: Socket): boolean => connectionOf(socket).unanswered > 0;
  return { watch, begin, run, isBusy, onSwitched, ...unreadable, stop: slowClients.stop };
}
