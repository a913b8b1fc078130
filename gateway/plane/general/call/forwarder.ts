// Forwards one decided request through @fastify/reply-from, with an upstream client of the gateway under it.
import replyFrom, { type FastifyReplyFromHooks, type FastifyReplyFromOptions } from '@fastify/reply-from';
import type { Dispatcher } from 'undici';
import type { HeaderLines } from '../../../exchange/answer-headers.ts';
import { Fault, type ForwardOrder, type Refusal, type ReplayOrder } from '../../../exchange/directive.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../../exchange/facts.ts';
import { callUpstream, type Forwarded, type ForwardPorts } from '../../../upstream/attempts.ts';
import { type KeyedCall, prepareCall } from '../../../upstream/bodies/keyed-call.ts';
import { replayAnswer } from '../../../upstream/bodies/replay.ts';
import { finishHead } from '../../../upstream/response-headers.ts';
import type { AnswerSink } from '../../port.ts';
import { http2StreamOf, writeHead } from '../request/message.ts';
import type { NodeInbound } from '../request/open-request.ts';

export interface ReplyWithFrom {
  readonly from: (source: string, hooks: FastifyReplyFromHooks) => unknown;
}

export interface Forwarder {
  /** Adds `from` to the replies of a Fastify instance. */
  readonly plugin: typeof replyFrom;
  readonly options: FastifyReplyFromOptions;
  /**
   * Resolves when the response is written or the client has disconnected. Resolves with a refusal if the body
   * exceeds its bound before anything is written. Rejects with a `Fault` before anything is written. Later
   * failures reset the client's connection (FWD-17).
   */
  readonly forward: (
    inbound: NodeInbound,
    reply: ReplyWithFrom,
    order: ForwardOrder,
    facts: ExchangeFacts,
  ) => Promise<Refusal | undefined>;
  /** Sends a stored response. Resolves and rejects as `forward` does. */
  readonly replay: (
    inbound: NodeInbound,
    order: ReplayOrder,
    facts: ExchangeFacts,
  ) => Promise<Refusal | undefined>;
}

interface ForwardedCall extends Forwarded {
  readonly inbound: NodeInbound;
  why: Fault | Refusal | undefined;
  writeHead: (() => void) | undefined;
  readonly done: () => void;
}

// reply-from copies symbol keys of the headers. Under this key the call reaches `request`.
const FORWARDED_CALL = Symbol('forwarded call');
type Callback = (error: Error | null, answer?: unknown) => void;
type WithForwardedCall = Record<string, never> & { [FORWARDED_CALL]: ForwardedCall };

// reply-from resolves only this address, never bytes of a client (SMG-7).
const NOWHERE = 'http://upstream.invalid';

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

export function createForwarder({
  exchange,
  ...ports
}: ForwardPorts & { readonly exchange: Pick<Exchange, 'decorate'> }): Forwarder {
  function finish(status: number, headers: HeaderLines, call: Forwarded & { inbound: NodeInbound }): void {
    const { inbound } = call;
    const { raw } = inbound;
    finishHead(exchange, status, headers, call);
    if (raw.httpVersionMajor === 1 && (inbound.mustClose() || (inbound.hasBody && !raw.complete))) {
      headers.set('connection', 'close');
      inbound.sealConnection();
    }
  }

  function request(
    { headers: { [FORWARDED_CALL]: call } }: { readonly headers: WithForwardedCall },
    callback: Callback,
  ): void {
    const { inbound, facts } = call;
    const sentAt = performance.now();
    const sink = answerTo(inbound, {
      head(status, headers) {
        finish(status, headers, call);
        call.writeHead = () => writeHead(inbound.res, status, headers);
        const body = { destroy: () => cancel(new Error('aborted')) };
        // reply-from accepts only the statuses that Fastify knows. `writeHead` writes the real one.
        callback(null, { statusCode: 200, headers: {}, body });
      },
      end() {
        inbound.res.end();
        call.done();
      },
    });
    const cancel = callUpstream(call, ports, sink, {
      onAnswered() {
        facts.completion.upstreamMs = performance.now() - sentAt;
      },
      onNotice(outcome) {
        facts.completion.bodyNotice = outcome;
      },
      onCut(why) {
        if (!(why instanceof Fault)) facts.completion.refusal = why.reason;
        else if (!inbound.gone) facts.completion.fault = why;
        call.done();
      },
      onRefused(why) {
        call.why = why;
        callback(why instanceof Fault ? why : new Error(why.reason));
      },
    });
  }

  function pass(
    inbound: NodeInbound,
    reply: ReplyWithFrom,
    order: ForwardOrder,
    facts: ExchangeFacts,
    claimed?: KeyedCall,
  ): Promise<Refusal | undefined> {
    return new Promise((resolve, reject) => {
      const call: ForwardedCall = {
        inbound,
        order,
        facts,
        claimed,
        why: undefined,
        writeHead: undefined,
        done: () => resolve(undefined),
      };
      // Fastify would turn a broken body into a second response, so the response is written here.
      reply.from('/', {
        rewriteRequestHeaders: () => ({ [FORWARDED_CALL]: call }),
        rewriteHeaders: () => NO_HEADERS,
        onResponse: () => call.writeHead?.(),
        onError: (_reply, { error }) => {
          const { why } = call;
          if (why === undefined || why instanceof Fault) reject(why ?? error);
          else resolve(why);
        },
      });
    });
  }

  return {
    plugin: replyFrom,
    options: {
      base: NOWHERE,
      // The type of undici's own method. reply-from calls only this.
      undici: { request } as unknown as { request: Dispatcher['request'] },
      // reply-from would repeat a GET with status 503 up to ten times (FWD-16).
      retryMethods: [],
      disableRequestLogging: true,
    },
    async forward(inbound, reply, order, facts) {
      const prepared = await prepareCall(inbound, order, ports.heldBodies);
      if (prepared?.kind === 'refused') return prepared.refusal;
      if (inbound.gone) return undefined;
      return pass(inbound, reply, order, facts, prepared?.call);
    },
    replay(inbound, replay, facts) {
      const call = { inbound, order: replay.forward, facts };
      const sink = answerTo(inbound, {
        head(status, headers) {
          finish(status, headers, call);
          writeHead(inbound.res, status, headers);
        },
        end: () => void inbound.res.end(),
      });
      return replayAnswer(inbound, replay, facts.completion, { sink, memory: ports.heldBodies });
    },
  };
}

/** `head`: writes the head before it returns. @throws for a head that Node refuses to write */
export function answerTo(inbound: NodeInbound, { head, end }: Pick<AnswerSink, 'head' | 'end'>): AnswerSink {
  const { res } = inbound;
  return {
    head(status, headers) {
      head(status, headers);
      // Node delays the head until there is a body. A body that arrived with the head is written by then.
      queueMicrotask(() => {
        if (inbound.bytes === 0 && !res.writableEnded && !res.destroyed) res.flushHeaders();
      });
    },
    write(chunk) {
      inbound.bytes += chunk.length;
      return res.write(chunk);
    },
    end,
    reset() {
      const stream = http2StreamOf(res);
      if (stream === undefined) res.destroy();
      // Resets with INTERNAL_ERROR. Node's `close` would end the response, and the client would take it for complete.
      else stream.destroy(new Error('the response was interrupted'));
    },
    onDrain: (resume) => void res.once('drain', resume),
  };
}
