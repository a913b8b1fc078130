// Requests, refusals and ends of upstream connections that meet in one event loop iteration.
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startWholeGateway } from '../../differential/whole-gateway.ts';
import { startTestIssuer } from '../../support/issuer.ts';
import { forEachTest } from '../gateway-pair.ts';
import { get, openRaw, type RawRequest, until } from '../raw-sockets.ts';

const { defer, pair } = forEachTest();

const STOLEN = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen';
const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const answerTo = (path: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`;
const answer = (request: RawRequest) => (request.complete ? answerTo(pathOf(request)) : undefined);

it('fast plane: pipelined requests that are refused over 70 connections in one turn are answered in their order', async () => {
  const issuer = await startTestIssuer();
  defer(() => issuer.close());
  await using gateway = await startWholeGateway('fast', {
    ISSUER: issuer.url,
    SERVICE: 'http://127.0.0.1:9',
  });
  const clients = await Promise.all(Array.from({ length: 70 }, () => openRaw(gateway.port)));
  defer(async () => {
    for (const { socket } of clients) socket.destroy();
  });
  // All are accepted once the last one is answered.
  for (const { socket } of clients) socket.write(get('/nowhere', ['X-Request-Id: request-0']));
  const answered = (count: number) =>
    until(() => clients.every(({ text }) => text.split('HTTP/1.1 404').length > count));
  await answered(1);
  const ask = (number: number): string => get('/nowhere', [`X-Request-Id: request-${number}`]);
  for (const { socket } of clients) socket.write(ask(1) + ask(2));
  for (let turns = 0; turns < 20; turns += 1) await turn();
  for (const { socket } of clients) socket.write(ask(3));
  await answered(4);
  for (const { text } of clients)
    expect(text.match(/request-\d/g)).toEqual([0, 1, 2, 3].map((n) => `request-${n}`));
});

it.each(['GET', 'POST'])(
  'SMG-22: fast plane: octets that come before a %s is written to its connection are no answer to it',
  async (method) => {
    const { upstream, gateway } = await pair(answer, { plane: 'fast' }, answer);
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    client.socket.write(get('/echo/first'));
    await until(() => client.text.endsWith('/echo/first'));
    for (let turns = 0; turns < 5; turns += 1) await turn();
    client.text = '';
    client.socket.write(get('/echo/next', ['Content-Length: 0'], method));
    // Behind the request, and read in the turn in which the request is.
    for (const socket of upstream.sockets) socket.write(STOLEN);
    await until(() => client.text.endsWith('/echo/next') || client.text.endsWith('stolen'));
    expect(client.text).not.toContain('stolen');
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/first', '/echo/next']);
  },
);

/** The status of a request that takes an idle connection in the turn in which the upstream ends that connection. */
async function raced(
  plane: 'fast' | 'general',
  request: string,
  way: (socket: Socket) => void,
): Promise<string> {
  const { upstream, gateway } = await pair(answer, { plane }, answer);
  const client = await openRaw(gateway.port);
  defer(async () => void client.socket.destroy());
  client.socket.write(get('/echo/first'));
  await until(() => client.text.endsWith('/echo/first'));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  client.text = '';
  client.socket.write(request);
  for (const socket of upstream.sockets) way(socket);
  await until(() => client.text.endsWith('/echo/next') || client.text.endsWith('"}'));
  return `${client.text.slice(9, 12)}, sent ${upstream.requests.length - 1} times`;
}

const WITH_BODY = [
  ['sized POST', get('/echo/next', ['Content-Length: 2'], 'POST', 'hi')],
  ['chunked POST', get('/echo/next', ['Transfer-Encoding: chunked'], 'POST', '2\r\nhi\r\n0\r\n\r\n')],
  ['sized PUT', get('/echo/next', ['Content-Length: 2'], 'PUT', 'hi')],
] as const;

it.each(WITH_BODY)(
  'FWD-16: a %s takes an idle connection as the upstream ends it: both planes carry it out on another',
  async (_name, request) => {
    const way = (socket: Socket): void => void socket.end();
    expect(await raced('general', request, way)).toBe('200, sent 1 times');
    expect(await raced('fast', request, way)).toBe('200, sent 1 times');
  },
);
