// One request from its first line to its observed end: read, judged, answered or forwarded, counted once.
// proxy-listener.ts feeds it from Node's server and from Fastify; HTTP/1 and HTTP/2 come the same way.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Directive, Refusal } from '../exchange/directive.ts';
import type { Answer } from '../exchange/exchange.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import { METHODS } from '../exchange/request-view.ts';
import { http2StreamOf, type Inbound } from '../forward/inbound.ts';
import { abandonBody } from './connections.ts';
import { giveAnswer } from './give-answer.ts';
import { type InboundPorts, inboundOf } from './inbound-of.ts';
import type { Intake } from './intake.ts';
import { endWithAnswer, isComplete, requestIdOf } from './message.ts';
import { type OpenRequest, openRequest, outcomeOf } from './open-request.ts';
import { type RefusalPorts, refusalAtOnce } from './refusal-at-once.ts';
import { refusedBound } from './refused-bound.ts';
import { glimpseOf, readRequest } from './request-view.ts';
import type { Sessions } from './sessions.ts';
import { createSlowBodies, SLOW_BODY } from './slow-bodies.ts';
import { createSlowReaders } from './slow-readers.ts';
import { certificatesShown } from './tls-options.ts';
import { createTurns } from './turns.ts';
import { refuseOnSocket, type UnparsedPorts } from './unparsed.ts';
import { createUnreadable, type Unreadable } from './unreadable.ts';

export interface RequestLifePorts extends Omit<UnparsedPorts, 'clientAddress'>, InboundPorts, RefusalPorts {
  readonly intake: Intake;
  readonly sessions: Pick<Sessions, 'hasReset'>;
}

/** How a request goes on when it is to be forwarded or answered again; resolves with what it turned out to be refused for on its way. */
export type Onward = (
  inbound: Inbound,
  directive: Extract<Directive, { kind: 'forward' | 'replay' }>,
  facts: ExchangeFacts,
) => Promise<Refusal | undefined>;

export interface RequestLife extends Unreadable {
  /** The first line of a request; undefined on a sealed connection. It may be answered already. */
  readonly begin: (raw: IncomingMessage, res: ServerResponse) => OpenRequest | undefined;
  /** Judges and answers what `begin` returned. Never rejects for what the exchange or the upstream do. */
  readonly run: (open: OpenRequest, onward: Onward) => Promise<void>;
  /** Whether a request on this HTTP/1 connection waits for its answer. */
  readonly isBusy: (socket: Socket) => boolean;
  /** The connection of `open` is a WebSocket from now on: 101 was the answer, and it is observed. */
  readonly onSwitched: (open: OpenRequest) => void;
  readonly stop: () => void;
}

const ALLOW = METHODS.join(', ');
const TUNNEL: Refusal = { reason: 'method_unknown', method: 'CONNECT' };

export function createRequestLife(ports: RequestLifePorts): RequestLife {
  const { exchange, observer, connections, intake, scheme, sessions } = ports;
  const { bounds, clientAddress, load, report } = intake;
  const turns = createTurns(end);
  const slowReaders = createSlowReaders(bounds.unreadMs, () => report.refused('unread'));
  const slowBodies = createSlowBodies<OpenRequest>(bounds.bodyRate, refuseSlow);

  function begin(raw: IncomingMessage, res: ServerResponse): OpenRequest | undefined {
    const isHttp2 = http2StreamOf(res) !== undefined;
    const { socket } = raw;
    if (!isHttp2) {
      const before = turns.latest(socket);
      if (connections.isSealed(socket) || before?.closeAfter) return undefined;
      if (before !== undefined && turns.unanswered(socket) >= bounds.pipelined) {
        // Never read: the connection ends with the last answer, which tells its client to ask again (RFC 9112 §9.3.2).
        before.closeAfter = true;
        report.refused('pipelined');
        return undefined;
      }
    }
    const shed = load.begin();
    const chain = raw.headers['x-forwarded-for'];
    const client = clientAddress(
      socket.remoteAddress ?? '',
      typeof chain === 'string' ? chain : chain?.join(','),
    );
    const requestId = requestIdOf(raw);
    const facts = exchange.begin(requestId, raw.headers);
    const certificates = certificatesShown(socket);
    const { trace } = facts.start;
    const context = { scheme, isHttp2, address: client, requestId, trace, certificates, bounds };
    const reading = readRequest(raw, context);
    const view = reading.kind === 'refused' ? undefined : reading.view;
    const open = openRequest({ raw, res, facts, client, glimpse: view ?? glimpseOf(raw, context), view });
    if (!isHttp2) turns.join(open);
    // WS-1: served as plain HTTP. Node drops what arrived together with an upgrade it ignores, so that the next bytes
    // may be the middle of anything.
    open.closeAfter = !isHttp2 && raw.headers.upgrade !== undefined;
    slowReaders.watch(res, () => open.bytes + (open.inbound?.bytes ?? 0));
    res.on('close', () => end(open));
    endWithAnswer(raw, res);
    const refusal = refusalAtOnce(open, reading, shed, ports);
    if (refusal !== undefined) {
      refuse(open, refusal);
    } else if (reading.kind === 'view') {
      open.inbound = inboundOf(open, reading, ports);
      if (open.inbound.hasBody) slowBodies.watch(raw, open);
    } else if (reading.kind === 'server') {
      const headers: Answer['headers'] = { allow: ALLOW };
      exchange.decorate(204, headers, facts, reading.view);
      giveAnswer(open, { status: 204, headers, body: '' }, false, ports);
    }
    return open;
  }

  async function run(open: OpenRequest, onward: Onward): Promise<void> {
    const { facts, view, inbound, raw, before } = open;
    const turn = turns.wait(open);
    if (turn !== undefined) await turn;
    // H2-6: by then a reset that came with the request has been read, and nothing was done for nobody.
    if (sessions.hasReset(http2StreamOf(open.res)?.session)) await nextRound();
    if (open.ended || (open.answered && open.onTurn === undefined)) return;
    if (before?.closeAfter) {
      // As if it had never been read: the connection ends before its turn.
      open.closeAfter = true;
      leave(open);
      return;
    }
    open.onTurn?.();
    if (open.answered || view === undefined || inbound === undefined) return;
    try {
      const deciding = exchange.decide(view, facts);
      const directive = deciding instanceof Promise ? await deciding : deciding;
      if (open.gone || open.answered) {
        if (directive.kind === 'forward') directive.forward.claim?.release();
        return;
      }
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
      const refusal = await onward(inbound, directive, facts);
      const mustClose = refusal?.reason === 'request_malformed'; // SMG-26: its body was badly framed.
      if (refusal !== undefined && !open.gone && !open.answered)
        giveAnswer(open, exchange.refuse(refusal, facts, view), mustClose, ports);
    } catch (thrown) {
      if (!open.gone && !open.answered) giveAnswer(open, exchange.fail(thrown, facts, view), false, ports);
    }
  }

  function countRefusal(refusal: Refusal, headerWords = 0): void {
    const bound = refusedBound(refusal, headerWords > 2 * bounds.headerFields);
    if (bound !== undefined) report.refused(bound);
  }

  /** A refusal by this listener: the connection is not trusted any further (SMG-26). */
  function refuse(open: OpenRequest, refusal: Refusal): void {
    countRefusal(refusal, open.raw.rawHeaders.length);
    giveAnswer(open, exchange.refuse(refusal, open.facts, open.glimpse), true, ports);
  }

  function leave(open: OpenRequest): void {
    turns.leave(open);
    if (open.closeAfter) connections.seal(open.raw.socket);
    load.end();
    slowReaders.forget(open.res);
    slowBodies.forget(open.raw);
  }

  function end(open: OpenRequest): void {
    if (open.ended) return;
    leave(open);
    const { raw, res, inbound, isHttp2 } = open;
    const complete = open.switched || isComplete(res);
    if (!complete) {
      open.gone = true;
      if (inbound !== undefined) inbound.gone = true;
      inbound?.onGone?.();
    } else if (
      !isHttp2 &&
      !open.switched &&
      (open.closeAfter || (ports.isDraining() && turns.unanswered(raw.socket) === 0))
    ) {
      if (!raw.complete) abandonBody(raw);
      raw.socket.destroySoon();
    }
    observer.onAnswer(open.facts, outcomeOf(open, complete));
  }

  function onSwitched(open: OpenRequest): void {
    open.switched = true;
    end(open);
  }

  /** Nothing is written yet, or what the upstream answers so early stands. */
  function refuseSlow(open: OpenRequest): void {
    if (open.answered || open.res.headersSent) return;
    report.refused('body_rate');
    giveAnswer(open, exchange.refuse(SLOW_BODY, open.facts, open.glimpse), true, ports);
    open.inbound?.onGone?.();
  }

  function stop(): void {
    slowReaders.stop();
    slowBodies.stop();
  }

  const unreadable = createUnreadable({
    connections,
    tunnel: ports.mode !== 'serve' ? { reason: 'plain_http' } : TUNNEL,
    latest: turns.latest,
    refuse,
    refuseOnSocket(refusal, socket) {
      countRefusal(refusal);
      refuseOnSocket(refusal, socket, { ...ports, clientAddress });
    },
  });

  return { begin, run, isBusy: (socket) => turns.unanswered(socket) > 0, onSwitched, ...unreadable, stop };
}
