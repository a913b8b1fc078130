// More connections in one event loop iteration than a stage holds: each client gets its responses in order.
import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startWholeGateway } from '../../differential/whole-gateway.ts';
import { startTestIssuer } from '../../support/issuer.ts';
import { forEachTest } from '../gateway-pair.ts';
import { get, openRaw, type RawClient, type RawRequest, until } from '../raw-sockets.ts';

const { defer, pair } = forEachTest();

const CONNECTIONS = 128;

const answerTo = ({ head }: RawRequest): string => {
  const path = head.split(' ')[1] ?? '';
  return `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`;
};
const pathOf = (client: number, request: number): string => `/echo/${client}-${request}`;

async function openClients(port: number): Promise<readonly RawClient[]> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openRaw(port)));
  defer(async () => {
    for (const { socket } of clients) socket.destroy();
  });
  return clients;
}

it.each([
  ['one after the other', 1],
  ['pipelined', 3],
])('FWD-5: forwarded requests get their responses in order, %s', async (_how, together) => {
  const { gateway } = await pair(answerTo, { plane: 'fast' });
  const clients = await openClients(gateway.port);
  await until(() => gateway.listener.connections() === clients.length);
  for (let first = 0; first < 3; first += together) {
    for (const [at, { socket }] of clients.entries()) {
      const requests = Array.from({ length: together }, (_, next) => get(pathOf(at, first + next)));
      socket.write(requests.join(''));
    }
    await until(() => clients.every(({ text }, at) => text.endsWith(pathOf(at, first + together - 1))));
  }
  for (const [at, { text }] of clients.entries())
    expect(text.match(/\/echo\/\d+-\d/g)).toEqual([0, 1, 2].map((request) => pathOf(at, request)));
});

it('FWD-5: pipelined requests that the gateway answers itself get their responses in order', async () => {
  const issuer = await startTestIssuer();
  defer(() => issuer.close());
  await using gateway = await startWholeGateway('fast', {
    ISSUER: issuer.url,
    SERVICE: 'http://127.0.0.1:9',
  });
  const clients = await openClients(gateway.port);
  const ask = (number: number): string => get('/nowhere', [`X-Request-Id: request-${number}`]);
  const untilAnswered = (count: number) =>
    until(() => clients.every(({ text }) => text.split('HTTP/1.1 404').length > count));
  // A client with a response is an open connection.
  for (const { socket } of clients) socket.write(ask(0));
  await untilAnswered(1);
  for (const { socket } of clients) socket.write(ask(1) + ask(2));
  for (let turns = 0; turns < 20; turns += 1) await nextIteration();
  for (const { socket } of clients) socket.write(ask(3));
  await untilAnswered(4);
  for (const { text } of clients)
    expect(text.match(/request-\d/g)).toEqual([0, 1, 2, 3].map((number) => `request-${number}`));
});
