// Requests that get a body notice, and its content: phases, exceptions, pauses, observe mode, operations.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Directive } from '../../../gateway/exchange/directive.ts';
import { createExchange } from '../../../gateway/exchange/exchange.ts';
import type { GatewayPlan } from '../../../gateway/plan/plan.ts';
import type { Override } from '../../../gateway/policy/lifecycle/override.ts';
import { planOf } from '../../plan/workspace.ts';
import { view } from '../../support/exchange-samples.ts';
import { ordersPolicy } from '../../support/orders-policy.ts';
import { quietPorts, tokensAreConsumers } from '../../support/quiet-ports.ts';

const POLICY = ordersPolicy(
  `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    retired: 2027-07-15
    successor: v2
    body_notice: true
    exceptions:
      - { consumer: acme, until: 2027-06-30, from: [sunset], why: contract 4711, by: api-team }
    operations:
      GET /old/{id}: { deprecated: 2025-06-01, successor: "v2 GET /{id}" }
      GET /left: { body_notice: false }
      PUT /apart: { body_notice: false }
  v2:
    released: 2025-01-01
    operations:
      GET /search: { deprecated: 2026-02-01, sunset: 2027-03-01, body_notice: true }
`,
  { access: '{ identity: main, scopes: { read: [read], write: [read] } }' },
);

let plans: Record<'enforce' | 'observe', GatewayPlan>;

beforeAll(async () => {
  plans = { enforce: await planOf(POLICY), observe: await planOf(`mode: observe\n${POLICY}`) };
});

interface Situation {
  readonly at: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly consumer?: string;
  readonly mode?: 'enforce' | 'observe';
  readonly overrides?: readonly Override[];
}

async function judge(situation: Situation): Promise<Directive> {
  const { at, path = '/api/v1/orders/7', method = 'GET', headers = {}, consumer = 'other' } = situation;
  const now = Temporal.Instant.from(`${at}T00:00:00Z`).epochMilliseconds;
  const exchange = createExchange({
    ...quietPorts(
      () => plans[situation.mode ?? 'enforce'],
      () => now,
    ),
    overrides: () => situation.overrides ?? [],
    authenticators: tokensAreConsumers(['read']),
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  return exchange.decide(
    view({ path, method, headers: { authorization: `Bearer ${consumer}`, ...headers } }),
    facts,
  );
}

async function orderOf(situation: Situation) {
  const directive = await judge(situation);
  if (directive.kind !== 'forward') throw new Error(JSON.stringify(directive));
  return directive.forward;
}

async function noticeOf(situation: Situation): Promise<unknown> {
  const { notice } = await orderOf(situation);
  return notice && JSON.parse(`{${notice.member}}`)._deprecation;
}

const suffixAt = async (situation: Situation): Promise<string> =>
  (await orderOf(situation)).notice?.suffix ?? 'none';

const replacement = 'https://api.example.com/api/v2/orders/7';

describe('the notice', () => {
  it('names the current sunset and the same resource in the successor', async () => {
    expect(await noticeOf({ at: '2026-11-20' })).toEqual({
      deprecated: true,
      sunset_date: '2027-01-15',
      replacement,
    });
  });

  it.each([
    ['before the deprecation', { at: '2026-01-14' }],
    ['for an operation without one', { at: '2026-11-20', path: '/api/v1/orders/left' }],
    ['for a version without one', { at: '2026-11-20', path: '/api/v2/orders/7' }],
    ['for responses to DELETE', { at: '2026-11-20', method: 'DELETE' }],
    ['for responses to OPTIONS', { at: '2026-11-20', method: 'OPTIONS' }],
  ])('BODY-1: is not added %s', async (_when, situation) => {
    const order = await orderOf(situation);
    expect(order.notice).toBeUndefined();
    expect(order.setHeaders).toBeUndefined();
  });

  it('of an operation names its own sunset and successor', async () => {
    expect(await noticeOf({ at: '2025-07-01', path: '/api/v1/orders/old/7' })).toMatchObject({ replacement });
    expect(await noticeOf({ at: '2026-11-20', path: '/api/v2/orders/search' })).toEqual({
      deprecated: true,
      sunset_date: '2027-03-01',
    });
  });

  it('names the sunset of an excepted consumer', async () => {
    const acme = await noticeOf({ at: '2027-02-01', consumer: 'acme' });
    expect(acme).toMatchObject({ sunset_date: '2027-06-30' });
  });

  it('names the sunset as moved by a pause', async () => {
    const pause: Override = {
      kind: 'pause',
      id: '1',
      api: 'orders',
      label: 'v1',
      author: 'ops',
      reason: 'incident',
      from: Date.UTC(2027, 0, 1),
      until: Date.UTC(2027, 1, 20),
    };
    expect(await noticeOf({ at: '2027-02-01', overrides: [pause] })).toMatchObject({
      sunset_date: '2027-02-20',
    });
  });

  it('stays after the sunset in `mode: observe`', async () => {
    expect(await noticeOf({ at: '2027-02-01', mode: 'observe' })).toMatchObject({
      sunset_date: '2027-01-15',
    });
  });
});

describe('conditional requests', () => {
  const at = '2026-11-20';

  it('BODY-3, RNG-1: fields that could cut or encode the response are not forwarded', async () => {
    const headers = {
      range: 'bytes=0-1',
      'if-range': '"a"',
      'if-modified-since': 'x',
      'accept-encoding': 'br',
    };
    const order = await orderOf({ at, headers });
    expect(Object.entries(order.replaceHeaders ?? {})).toEqual(
      ['range', 'if-range', 'if-modified-since', 'accept-encoding'].map((name) => [name, undefined]),
    );
    expect(order.setHeaders).toEqual({ 'accept-encoding': 'identity' });
  });

  it.each(['PUT', 'PATCH', 'POST', 'DELETE'])(
    'BODY-5: If-Match of %s is forwarded without the suffix that the notice of GET adds',
    async (method) => {
      for (const path of ['/api/v1/orders/7', '/api/v1/orders/old/7', '/api/v1/orders/apart']) {
        const suffix = await suffixAt({ at, path });
        const order = await orderOf({ at, path, method, headers: { 'if-match': `"x${suffix}"` } });
        expect(order.replaceHeaders, path).toEqual({ 'if-match': '"x"' });
      }
    },
  );

  it('BODY-5: If-Match is forwarded unchanged if GET has no notice', async () => {
    const headers = { 'if-match': '"x~d12345678"' };
    const { replaceHeaders } = await orderOf({
      at,
      path: '/api/v1/orders/left',
      method: 'PUT',
      headers,
    });
    expect(replaceHeaders ?? {}).not.toHaveProperty('if-match');
  });

  it('BODY-5: an excepted consumer has a suffix of its own', async () => {
    const suffix = await suffixAt({ at, consumer: 'acme' });
    expect(suffix).not.toBe(await suffixAt({ at }));
    const stale = { at, method: 'PUT', headers: { 'if-match': `"x${suffix}"` } };
    expect((await orderOf({ ...stale, consumer: 'acme' })).replaceHeaders).toEqual({ 'if-match': '"x"' });
    expect(await judge(stale)).toEqual({ kind: 'refuse', refusal: { reason: 'precondition_failed' } });
  });

  it('BODY-5: a stale If-Match is refused only if the request would be served', async () => {
    const headers = { 'if-match': '"x~d00000000"' };
    const directive = await judge({ at: '2027-02-01', method: 'PUT', headers });
    expect(directive).toMatchObject({ kind: 'refuse', refusal: { reason: 'version_retired' } });
  });
});

describe('BODY-1: an API has notices', () => {
  const dates = 'released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, successor: v2';
  it.each([
    ['if a version has one', `{ ${dates}, body_notice: true }`, true],
    ['if only an operation has one', `{ ${dates}, operations: { GET /old: { body_notice: true } } }`, true],
    ['not if all are off', `{ ${dates}, operations: { GET /old: { body_notice: false } } }`, false],
  ])('%s', async (_which, v1, expected) => {
    const { apis } = await planOf(ordersPolicy(`  v1: ${v1}\n  v2: { released: 2025-01-01 }\n`));
    expect(apis[0]?.hasBodyNotice).toBe(expected);
  });
});
