// Tests of the receiver's registration: it subscribes once, keeps the secret, and subscribes again if needed.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { EVENTS, register, storedSecret } from '../../../upstreams/receiver/registration.ts';
import { sendJson } from '../../../upstreams/service/answer.ts';
import { listen, type Service } from '../../../upstreams/service/listen.ts';

const URL = 'https://localhost:4007/hooks';
const folder = mkdtempSync(join(tmpdir(), 'sundial-registration-'));
const never = new AbortController().signal;
let file = '';
let asked: string[] = [];
/** From the last PATCH. */
let written: unknown;
/** Responses of the service by method. Default: 404. */
let answers: Record<string, [status: number, body: object][]> = {};
let service: Service;
let count = 0;

beforeEach(async () => {
  count += 1;
  file = join(folder, `${count}.json`);
  asked = [];
  service = await listen(
    async (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.method === 'PATCH') written = JSON.parse(await text(request));
      const [status, body] = answers[request.method ?? '']?.shift() ?? [404, {}];
      sendJson(response, status, body);
    },
    { port: 0 },
  );
});
afterEach(() => service.close());
afterAll(() => rmSync(folder, { recursive: true }));

const asks = () => register({ service: service.url, url: URL, file, signal: never });
const made = (id: string) => [201, { id, url: URL, secret: `secret of ${id}` }] as [number, object];

it('subscribes once, and stores the secret readable for its owner only', async () => {
  answers = { POST: [made('wh_1')], GET: [[200, { id: 'wh_1', url: URL, events: EVENTS }]] };
  expect(await asks()).toBe('secret of wh_1');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await asks()).toBe('secret of wh_1');
  expect(asked).toEqual(['POST /webhooks', 'GET /webhooks/wh_1']);
});

it('adds missing events to an earlier subscription, whose secret stays', async () => {
  const [first] = EVENTS;
  answers = {
    POST: [made('wh_1')],
    GET: [[200, { id: 'wh_1', url: URL, events: [first] }]],
    PATCH: [[200, {}]],
  };
  await asks();
  expect(await asks()).toBe('secret of wh_1');
  expect(asked.at(-1)).toBe('PATCH /webhooks/wh_1');
});

it('a receiver with a new URL changes its subscription', async () => {
  const elsewhere = { id: 'wh_1', url: 'https://localhost:5007/hooks', events: EVENTS };
  answers = { POST: [made('wh_1')], GET: [[200, elsewhere]], PATCH: [[200, {}]] };
  await asks();
  expect(await asks()).toBe('secret of wh_1');
  expect(asked).toEqual(['POST /webhooks', 'GET /webhooks/wh_1', 'PATCH /webhooks/wh_1']);
  expect(written).toEqual({ url: URL, events: EVENTS });
});

it('subscribes again if the subscription does not exist any more', async () => {
  answers = { POST: [made('wh_1'), made('wh_2')], GET: [[404, {}]] };
  await asks();
  expect(await asks()).toBe('secret of wh_2');
  expect(storedSecret(file)).toBe('secret of wh_2');
});

it('retries while the service is unavailable, and stops at a refusal', async () => {
  answers = { POST: [[503, {}], made('wh_1')] };
  expect(await asks()).toBe('secret of wh_1');
  answers = { POST: [[400, { message: 'url must use port 443' }]] };
  await expect(asks()).rejects.toThrow('url must use port 443');
});
