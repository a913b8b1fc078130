// Runs a request on the fast plane: judges it, answers or forwards it, and reports it once.
import { HeaderLines } from '../../exchange/answer-headers.ts';
import {
  type Directive,
  Fault,
  type ForwardOrder,
  type Refusal,
  type RequestRefusal,
} from '../../exchange/directive.ts';
import type { ExchangeAnswer } from '../../exchange/exchange.ts';
import { OFFERED_METHODS, RecordFields } from '../../exchange/request-view.ts';
import { callUpstream } from '../../upstream/attempts.ts';
import { type KeyedCall, prepareCall } from '../../upstream/bodies/keyed-call.ts';
import { replayAnswer } from '../../upstream/bodies/replay.ts';
import { refusalAtOnce } from '../request-reading.ts';
import { createSlowClients, SLOW_BODY } from '../slow-clients.ts';
import { refusedBound, refuseOnSocket } from '../socket-refusal.ts';
import type { FastPorts, RequestConnection } from './fast-ports.ts';
import type { FastRequest } from './fast-request.ts';
import { decideStage, forwardStage } from './request-stages.ts';

export interface FastLife {
  readonly begin: (request: FastRequest) => void;
  /** Refuses in the listener and closes the connection (SMG-26). */
  readonly refuse: (request: FastRequest, refusal: Refusal) => void;
  /** Refuses a head that did not arrive in time. */
  readonly refuseHead: (connection: RequestConnection, refusal: RequestRefusal) => void;
  /** The response is complete, or the connection closed. */
  readonly end: (request: FastRequest, complete: boolean) => void;
  readonly stop: () => void;
}

const ALLOW = OFFERED_METHODS.join(', ');

export function createFastLife(ports: FastPorts): FastLife {
  const { exchange, limits, observer } = ports;
  const { load, report } = limits;
  const slowClients = createSlowClients<FastRequest>(limits.bounds, {
    progress: (request) => request.progress(),
    cut: (request) => request.reset(),
    bodyState: (request) => request.bodyState(),
    onCut: () => report.refused('unread'),
    onSlowBody(request) {
      if (request.answered) return;
      refuse(request, SLOW_BODY, 'body_rate');
      request.onGone?.();
    },
  });

  function begin(request: FastRequest): void {
    const { reading, facts } = request;
    report.carried('fast', 'usual');
    slowClients.watch(request);
    const refusal = refusalAtOnce(request, reading, load.begin(), ports);
    if (refusal !== undefined) refuse(request, refusal);
    // At once, because the caller reads the body next, and a refusal by the head precedes that of a malformed body.
    else if (reading.kind === 'view' && request.hasBody) judge(request);
    else if (reading.kind === 'view') decideStage.schedule(judge, request);
    else if (reading.kind === 'server') {
      const headers = new HeaderLines({ allow: ALLOW });
      exchange.decorate(204, headers, facts, reading.view);
      answer(request, { status: 204, headers, body: '' }, false);
    }
  }

  function judge(request: FastRequest): void {
    try {
      const deciding = exchange.decide(request.view, request.facts);
      if (deciding instanceof Promise)
        deciding
          .then((directive) => obey(request, directive))
          .catch((thrown: unknown) => fail(request, thrown));
      else if (request.hasBody) obey(request, deciding);
      else {
        request.directive = deciding;
        forwardStage.schedule(obeyDirective, request);
      }
    } catch (thrown) {
      fail(request, thrown);
    }
  }

  function obeyDirective(request: FastRequest): void {
    try {
      if (request.directive !== undefined) obey(request, request.directive);
    } catch (thrown) {
      fail(request, thrown);
    }
  }

  function obey(request: FastRequest, directive: Directive): void {
    const { facts, view } = request;
    if (request.gone || request.answered) {
      if (directive.kind === 'forward') directive.forward.claim?.release();
      return;
    }
    switch (directive.kind) {
      case 'refuse':
        answer(request, exchange.refuse(directive.refusal, facts, view), false);
        return;
      case 'publish':
        answer(request, exchange.publish(directive.publication, facts, view), false);
        return;
      case 'replay': {
        request.ask(directive.forward);
        const given = { sink: request, memory: ports.heldBodies };
        void settle(request, replayAnswer(request, directive, facts.completion, given));
        return;
      }
      case 'forward': {
        const order = directive.forward;
        request.ask(order);
        const preparing = prepareCall(request, order, ports.heldBodies);
        if (preparing === undefined) send(request, order);
        else
          void settle(
            request,
            preparing.then((ready) => {
              if (ready?.kind === 'ready') send(request, order, ready.call);
              return ready?.kind === 'refused' ? ready.refusal : undefined;
            }),
          );
        return;
      }
      default:
        directive satisfies never;
    }
  }

  async function settle(request: FastRequest, going: Promise<Refusal | undefined>): Promise<void> {
    try {
      const refusal = await going;
      if (refusal !== undefined) refuseLate(request, refusal);
    } catch (thrown) {
      fail(request, thrown);
    }
  }

  function send(request: FastRequest, order: ForwardOrder, claimed?: KeyedCall): void {
    const { facts } = request;
    const { completion } = facts;
    const sentAt = performance.now();
    callUpstream({ inbound: request, order, facts, claimed }, ports, request, {
      onAnswered() {
        completion.upstreamMs = performance.now() - sentAt;
      },
      onNotice(outcome) {
        completion.bodyNotice = outcome;
      },
      onCut(why) {
        // A disconnected client is not a fault.
        if (!(why instanceof Fault)) completion.refusal = why.reason;
        else if (!request.gone) completion.fault = why;
      },
      onRefused(why) {
        if (why instanceof Fault) fail(request, why);
        else refuseLate(request, why);
      },
    });
  }

  /** Refuses while the body arrives. */
  function refuseLate(request: FastRequest, refusal: Refusal): void {
    if (request.gone || request.answered) return;
    // SMG-26: the end of a malformed body is unknown.
    const mustClose = refusal.reason === 'request_malformed';
    answer(request, exchange.refuse(refusal, request.facts, request.glimpse), mustClose);
  }

  function refuse(request: FastRequest, refusal: Refusal, bound = refusedBound(refusal, false)): void {
    if (bound !== undefined) report.refused(bound);
    answer(request, exchange.refuse(refusal, request.facts, request.glimpse), true);
  }

  function fail(request: FastRequest, thrown: unknown): void {
    if (request.gone || request.answered) return;
    answer(request, exchange.fail(thrown, request.facts, request.glimpse), false);
  }

  function answer(request: FastRequest, made: ExchangeAnswer, mustClose: boolean): void {
    try {
      request.give(made, mustClose);
    } catch (thrown) {
      // An invalid header value must not end the process. The response to a fault has no value from the request.
      const { scheme } = request.glimpse;
      request.give(exchange.fail(thrown, request.facts, { scheme, headers: new RecordFields() }), mustClose);
    }
  }

  return {
    begin,
    refuse,
    refuseHead({ socket, known }, refusal) {
      const bound = refusedBound(refusal, false);
      if (bound !== undefined) report.refused(bound);
      refuseOnSocket(refusal, socket, known.peer, ports);
    },
    end(request, complete) {
      load.end();
      slowClients.forget(request);
      request.gone = !complete;
      request.close();
      if (!complete) request.onGone?.();
      observer.onAnswer(request.facts, request.outcome(complete));
    },
    stop: slowClients.stop,
  };
}
