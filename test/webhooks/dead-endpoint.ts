// Ten endpoints of which one never responds: measures how long deliveries to the other nine wait.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPair } from '../../upstreams/receiver/certificate.ts';
import { freePorts } from '../support/ports.ts';
import { untilTrue } from '../support/until-true.ts';
import { createServiceProcess } from './killed-service.ts';

const ENDPOINTS = 10;
const EVENTS = 60;
const EVERY_MS = 50;
const ARRIVE_WITHIN_MS = 20_000;
const DEAD = '/0';

/** Milliseconds from the acceptance of an event to its delivery at a working endpoint, sorted. */
export async function waitsBesideDead(): Promise<readonly number[]> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'sundial-webhooks-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const taken = new Map<string, number>();
  const waits: number[] = [];
  const server = createServer(await loadPair(folder, Date.now()), (request, response) => {
    if (request.url === DEAD) return;
    const from = taken.get(String(request.headers['webhook-id']));
    // A delivery may arrive before the response to its event.
    waits.push(from === undefined ? 0 : performance.now() - from);
    request.resume().once('end', () => response.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const [port = 0] = await freePorts(1);
  const logFile = join(tmpdir(), 'sundial-test-webhooks-dead.log');
  const service = createServiceProcess({ port, folder, receiver: host, redisUrl: undefined, logFile });
  stack.defer(service.kill);
  await service.start();
  for (let number = 0; number < ENDPOINTS; number += 1) {
    const body = JSON.stringify({ url: `https://${host}/${number}`, events: ['order.created'] });
    await service.call('/webhooks', { method: 'POST', body });
  }
  for (let number = 0; number < EVENTS; number += 1) {
    const id = `evt_dead_${number}`;
    await service.post({ id, type: 'order.created', created: 1, data: {} });
    taken.set(id, performance.now());
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await untilTrue(() => waits.length >= EVENTS * (ENDPOINTS - 1), { withinMs: ARRIVE_WITHIN_MS });
  return waits.sort((a, b) => a - b);
}
