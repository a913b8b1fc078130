// A Node request as upstream/ sees it: the end of its body, and the disconnect of its client.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createClientConnection } from '../../gateway/plane/client-connection.ts';
import { inboundOf } from '../../gateway/plane/general/request/message.ts';
import { OpenRequest } from '../../gateway/plane/general/request/open-request.ts';
import { deprecatedFacts, view } from '../support/exchange-samples.ts';

const CLIENT = { full: '192.0.2.1', key: '192.0.2.1', chain: '192.0.2.1', viaTrusted: false, isNear: false };

function received() {
  const raw = new IncomingMessage(new Socket());
  const res = new ServerResponse(raw);
  const seen = view();
  const connection = {
    ...createClientConnection(CLIENT, undefined),
    ...{ latest: undefined, isSealed: false, unanswered: 0 },
  };
  const known = { facts: deprecatedFacts(), connection, client: CLIENT, glimpse: seen, view: seen };
  const open = new OpenRequest({ raw, res, isHttp2: false, ...known });
  const reading = { kind: 'view', view: seen, forwardedHost: seen.host } as const;
  const ports = { sendsForwarded: false, isDraining: () => false };
  return { raw, res, inbound: inboundOf(open, reading, ports) };
}

it('onClosed runs its callback once, even if the response closes twice', () => {
  const { res, inbound } = received();
  let closed = 0;
  inbound.onClosed(() => {
    closed += 1;
  });
  expect(closed).toBe(0);
  res.emit('close');
  res.emit('close');
  expect(closed).toBe(1);
});

it('a body counts as complete once the parser has marked the request complete', () => {
  const { raw, inbound } = received();
  expect([inbound.body, inbound.endedWhole()]).toEqual([raw, false]);
  raw.complete = true;
  expect(inbound.endedWhole()).toBe(true);
});
