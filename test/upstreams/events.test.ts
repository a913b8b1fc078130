// Tests of the events of orders and payments at a real intake: types, content, and delivery at least once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, it, vi } from 'vitest';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import { startPayments } from '../../upstreams/payments/payments.ts';
import { openDatabase } from '../../upstreams/service/database.ts';
import { listen } from '../../upstreams/service/listen.ts';
import { type Event, openOutbox } from '../../upstreams/service/outbox.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const ORDER = { customer: 'acme', amount: 1250, currency: 'EUR', created: 1_772_323_200 };
const stack: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of stack.splice(0).reverse()) await end();
});

interface Intake {
  readonly url: string;
  readonly events: readonly Event[];
}

/** Responds with `statuses` in turn, and then always with the last one. */
async function startIntake(...statuses: number[]): Promise<Intake> {
  const events: Event[] = [];
  const service = await listen(
    async (request, response) => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      events.push(JSON.parse(text));
      response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 202).end();
    },
    { port: 0 },
  );
  stack.push(service.close);
  return { url: `${service.url}/events`, events };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sundial-events-'));
  stack.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function send(url: string, method: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${url}`).toBe(true);
}

const types = ({ events }: Intake) => events.map(({ type }) => type);

it('an order sends events for its whole life, in order', async () => {
  const intake = await startIntake(202);
  let id = 0;
  const newId = () => `n${++id}`;
  const service = await startOrdersV2({ port: 0, intake: intake.url, now: () => NOW, newId });
  stack.push(service.close);
  const at = `${service.url}/orders`;
  await send(at, 'POST', ORDER);
  await send(`${at}/1241`, 'PATCH', { amount: 999 });
  await send(`${at}/1241`, 'PUT', ORDER);
  await send(`${at}/1241/cancel`, 'POST');
  await send(`${at}/1241`, 'DELETE');
  const all = ['order.created', 'order.updated', 'order.updated', 'order.cancelled', 'order.deleted'];
  await vi.waitFor(() => expect(types(intake)).toEqual(all), { timeout: 10_000 });
  const { customer, amount, currency } = ORDER;
  expect(intake.events[0]).toEqual({
    id: 'evt_n1',
    type: 'order.created',
    created: NOW / 1_000,
    data: { id: '1241', customer, amount, currency, status: 'open' },
  });
  expect(new Set(intake.events.map((event) => event.id)).size).toBe(all.length);
});

it('a payment sends an event with its result, in any edition', async () => {
  const intake = await startIntake(202);
  const service = await startPayments({ port: 0, intake: intake.url });
  stack.push(service.close);
  const at = `${service.url}/payments`;
  const edition = { 'api-version': '2025-09-15' };
  const payment = { payer: 'acme', amount: 905, currency: 'EUR', created: 1_772_409_600 };
  await send(at, 'POST', payment, edition);
  await send(at, 'POST', { ...payment, payer: 'declined' }, edition);
  await send(at, 'POST', { ...payment, payer: 'undecided' }, edition);
  await send(`${at}/p-2243/capture`, 'POST', undefined, edition);
  await send(`${at}/p-2241/refund`, 'POST', undefined, edition);
  const all = ['payment.completed', 'payment.failed', 'payment.completed', 'payment.refunded'];
  await vi.waitFor(() => expect(types(intake)).toEqual(all), { timeout: 10_000 });
  expect(intake.events[1]?.data).toEqual({
    id: 'p-2242',
    customer: 'declined',
    amount: 905,
    currency: 'EUR',
    state: 'failed',
  });
});

it('refused requests and repeated idempotency keys send no event', async () => {
  const intake = await startIntake(202);
  const service = await startOrdersV2({ port: 0, intake: intake.url });
  stack.push(service.close);
  const at = `${service.url}/orders`;
  await fetch(`${at}/1001/cancel`, { method: 'POST' });
  for (let times = 0; times < 3; times += 1) await send(at, 'POST', ORDER, { 'idempotency-key': 'a' });
  await send(`${at}/1241`, 'DELETE');
  await vi.waitFor(() => expect(types(intake)).toEqual(['order.created', 'order.deleted']), {
    timeout: 10_000,
  });
});

it('an event is resent with the same id until the intake accepts it', async () => {
  const intake = await startIntake(503, 429, 202);
  const service = await startOrdersV2({ port: 0, intake: intake.url });
  stack.push(service.close);
  await send(`${service.url}/orders`, 'POST', ORDER);
  await vi.waitFor(() => expect(intake.events).toHaveLength(3), { timeout: 10_000 });
  expect(new Set(intake.events.map((event) => event.id)).size).toBe(1);
});

it('an event that the intake refuses does not delay later ones', async () => {
  const intake = await startIntake(400, 202);
  const service = await startOrdersV2({ port: 0, intake: intake.url });
  stack.push(service.close);
  await send(`${service.url}/orders`, 'POST', ORDER);
  await send(`${service.url}/orders/1241`, 'PATCH', { amount: 999 });
  await send(`${service.url}/orders/1241`, 'DELETE');
  await vi.waitFor(() => expect(types(intake)).toEqual(['order.created', 'order.updated', 'order.deleted']), {
    timeout: 10_000,
  });
});

it('another process sends events that a closed process has not sent', async () => {
  const dataFolder = folder();
  const away = await startOrdersV1({ port: 0, dataFolder, intake: 'http://127.0.0.1:1/events' });
  await send(`${away.url}/orders`, 'POST', { customerName: 'a', amount: '1.00', orderDate: '2026-03-01' });
  await away.close();
  const intake = await startIntake(202);
  const other = await startOrdersV2({ port: 0, dataFolder, intake: intake.url });
  stack.push(other.close);
  await vi.waitFor(() => expect(types(intake)).toEqual(['order.created']), { timeout: 10_000 });
});

it('without an intake no event is stored', async () => {
  const dataFolder = folder();
  const silent = await startOrdersV2({ port: 0, dataFolder });
  await send(`${silent.url}/orders`, 'POST', ORDER);
  await silent.close();
  const intake = await startIntake(202);
  const service = await startOrdersV2({ port: 0, dataFolder, intake: intake.url });
  stack.push(service.close);
  await send(`${service.url}/orders/1001`, 'DELETE');
  await vi.waitFor(() => expect(types(intake)).toEqual(['order.deleted']), { timeout: 10_000 });
});

it('a clock that was set back delays no event', async () => {
  const dataFolder = folder();
  const ahead = await startOrdersV2({
    port: 0,
    dataFolder,
    intake: 'http://127.0.0.1:1/events',
    now: () => NOW + 86_400_000,
  });
  await send(`${ahead.url}/orders`, 'POST', ORDER);
  await ahead.close();
  const killed = openDatabase({ dataFolder, name: 'orders.db', fill: () => undefined });
  const queue = openOutbox(killed, () => 'evt_held');
  queue.put('order.deleted', {}, NOW);
  // Left by a killed process that was about to send it.
  const held = NOW + 86_400_000 + 15_000;
  for (let each = 0; each < 2; each += 1) queue.take(NOW + 86_400_000, held);
  killed.close();
  const intake = await startIntake(202);
  const service = await startOrdersV2({ port: 0, dataFolder, intake: intake.url, now: () => NOW });
  stack.push(service.close);
  await vi.waitFor(() => expect(types(intake)).toEqual(['order.created', 'order.deleted']), {
    timeout: 10_000,
  });
});

it('the event of a request that got 201 is sent even if the process is killed', async () => {
  const data = folder();
  const killed = run(data, 'http://127.0.0.1:1/events');
  await send(`${await ready(killed)}/orders`, 'POST', ORDER);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const intake = await startIntake(202);
  // The killed process may have been sending. Its events are taken over after 15 s.
  const now = () => Date.now() + 20_000;
  const service = await startOrdersV2({ port: 0, dataFolder: data, intake: intake.url, now });
  stack.push(service.close);
  await vi.waitFor(() => expect(types(intake)).toEqual(['order.created']), { timeout: 10_000 });
});

it('prints one line if SUNDIAL_INTAKE is not a URL, and exits with 3', async () => {
  const child = run(folder(), 'localhost:4006');
  const lines: string[] = [];
  createInterface({ input: child.stderr ?? process.stdin }).on('line', (line) => lines.push(line));
  expect(await once(child, 'exit')).toEqual([3, null]);
  await vi.waitFor(() =>
    expect(lines).toEqual(['orders-v2: SUNDIAL_INTAKE must be an http or https URL, not "localhost:4006"']),
  );
});

function run(data: string, intake: string): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../upstreams/orders/main.ts'), 'v2'], {
    env: { ...process.env, SUNDIAL_DATA: data, SUNDIAL_INTAKE: intake, SUNDIAL_ORDERS_V2_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  stack.push(() => child.kill('SIGKILL'));
  return child;
}

async function ready({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim().split(' ')[2] ?? '';
}
