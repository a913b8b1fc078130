// Forwards one decided WebSocket handshake, and then the octets of both sides.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Fault, type ForwardOrder } from '../../../exchange/directive.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../../exchange/facts.ts';
import { type TunnelService, tunnelServiceOf } from '../../../exchange/tunnel-service.ts';
import type { ForwardPorts } from '../../../upstream/attempts.ts';
import { Slot } from '../../../upstream/concurrency-limit.ts';
import { toFault } from '../../../upstream/fault-mapping.ts';
import { countOwnHops, MAX_OWN_HOPS } from '../../../upstream/request-headers.ts';
import { finishHead } from '../../../upstream/response-headers.ts';
import { chooseForRetry, mayRetry } from '../../../upstream/retry.ts';
import type { CallOutcome, Choice } from '../../../upstream/targets/target-state.ts';
import { callerIdOf } from '../../../upstream/targets/targets.ts';
import type { Pools } from '../../../upstream/upstreams.ts';
import type { IdleBound } from '../../port.ts';
import type { HttpConnections } from '../client/http-connections.ts';
import type { NodeInbound } from '../request/open-request.ts';
import { createOpenTunnels, type OpenTunnels } from './open-tunnels.ts';
import { relayAnswer } from './relayed-answer.ts';
import { openTunnel, type TunnelEnds } from './tunnel.ts';
import { shakeHands } from './websocket-handshake.ts';

export interface Handover {
  readonly socket: Socket;
  readonly head: Buffer;
  /** The connection is a WebSocket, and the 101 is written. */
  readonly onSwitched: () => void;
}

export interface Websockets extends Pick<OpenTunnels, 'goAway' | 'services'> {
  /**
   * Resolves when the connection is a WebSocket, when another response is written, or when the client has
   * disconnected. Rejects with a `Fault` before anything is written.
   */
  readonly forward: (
    inbound: NodeInbound,
    handover: Handover,
    order: ForwardOrder,
    facts: ExchangeFacts,
  ) => Promise<undefined>;
}

export interface WebsocketPorts extends Pick<ForwardPorts, 'targets' | 'startDeadline'> {
  readonly pools: Pick<Pools<HttpConnections>, 'route' | 'budget'>;
  readonly exchange: Pick<Exchange, 'decorate' | 'expiryCauseOf'>;
  readonly idleWebsockets?: IdleBound | undefined;
}

export function createWebsockets(ports: WebsocketPorts): Websockets {
  const { exchange, pools, targets, startDeadline, idleWebsockets } = ports;
  const tunnels = createOpenTunnels(exchange.expiryCauseOf, idleWebsockets);

  /** A separate function, so that its closure does not keep the request in memory while the WebSocket is open. */
  function keepOpen(ends: TunnelEnds, service: TunnelService, slot: Slot | undefined): void {
    tunnels.add(service, (onClosed) =>
      openTunnel(ends, () => {
        slot?.settle('answered');
        onClosed();
      }),
    );
  }

  function forward(
    inbound: NodeInbound,
    { socket: client, head, onSwitched }: Handover,
    order: ForwardOrder,
    facts: ExchangeFacts,
  ): Promise<undefined> {
    const forwarded = { inbound, order, facts };
    const { raw, view } = inbound;
    const { upstream } = order;
    const { name: service, timeouts, retries } = upstream;
    if (countOwnHops(raw.headers.via) > MAX_OWN_HOPS)
      return Promise.reject(new Fault('upstream_loop', { service }));
    // The client may have sent FIN while the request was judged. That event does not come again.
    if (client.readableEnded) {
      client.destroy();
      return Promise.resolve(undefined);
    }
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const sentAt = performance.now();
    const caller = callerIdOf(facts.decision, inbound);
    const budget = retries && pools.budget(upstream);
    budget?.onRequest();
    const onEarlyEnd = (): void => void client.destroy();
    let slot: Slot | undefined;
    let giveUp: (() => void) | undefined;
    let tries = 0;
    let over = false;

    function finish(): void {
      over = true;
      inbound.onGone = undefined;
      facts.completion.upstreamMs = performance.now() - sentAt;
    }
    function fail(cause: unknown, outcome: CallOutcome): void {
      if (over) return;
      over = true;
      inbound.onGone = undefined;
      giveUp?.();
      slot?.settle(outcome);
      reject(toFault(cause, order));
    }

    function onAnswer(chosen: Choice, answer: IncomingMessage): void {
      finish();
      chosen.answered();
      relayAnswer(answer, forwarded, { exchange, startDeadline })
        .then(
          () => resolve(undefined),
          (cause: unknown) => {
            answer.destroy();
            reject(toFault(cause, order));
          },
        )
        .finally(() => slot?.settle('answered'));
    }

    function onFailure(failed: Choice, cause: unknown, unsent: boolean): void {
      const failure = { cause, unsent, unanswered: false, stale: false };
      const { code } = toFault(cause, order);
      slot?.settle(code);
      const next = mayRetry(failure, { method: view.method, hasBody: false, tries, retries, budget })
        ? chooseForRetry(failed.target, failure, () => targets.choose(upstream, caller, failed.target))
        : undefined;
      if (next === undefined) {
        fail(cause, code);
        return;
      }
      tries += 1;
      facts.completion.retries += 1;
      send(next);
    }

    function send(chosen: Choice): void {
      facts.completion.target = chosen.target.origin;
      const route = pools.route(upstream, chosen.target);
      const call = (): void => {
        giveUp = shakeHands({
          inbound,
          client,
          head,
          order,
          route,
          startDeadline,
          decorate: (headers) => finishHead(exchange, 101, headers, forwarded),
          onSwitched() {
            finish();
            chosen.answered();
            client.off('end', onEarlyEnd);
          },
          onAnswer: (answer) => onAnswer(chosen, answer),
          onFailure: (cause, unsent) => onFailure(chosen, cause, unsent),
          onOpen(ends) {
            keepOpen(
              { client, ...ends, stalledAfterMs: timeouts.idle },
              tunnelServiceOf(facts.decision),
              slot,
            );
            onSwitched();
            resolve(undefined);
          },
        });
      };
      const onBusy = (): void => fail(new Fault('upstream_busy', { service }), 'cancelled');
      slot = new Slot(route.limit, chosen, false, { onSlot: call, onBusy });
      slot.enter(upstream.connections);
    }

    client.once('end', onEarlyEnd);
    inbound.onGone = () => fail(new Error('the client disconnected'), 'cancelled');
    try {
      send(targets.choose(upstream, caller));
    } catch (thrown) {
      fail(thrown, 'cancelled');
    }
    return promise;
  }

  return { forward, goAway: tunnels.goAway, services: tunnels.services };
}
