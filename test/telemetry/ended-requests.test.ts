// Ended requests are recorded together: when, in which order, and from which values.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deprecatedFacts, plan } from '../support/exchange-samples.ts';
import { type Harness, harness, outcome } from './telemetry-harness.ts';

let each: Harness;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  each = harness(() => ({ ...plan(), apis: [] }));
});
afterEach(async () => {
  await each.telemetry.close();
  vi.useRealTimers();
});

const answer = (changes: Parameters<typeof outcome>[0] = {}, facts = deprecatedFacts()): void =>
  each.telemetry.observer.onAnswer(facts, outcome(changes));

it('lines of ended requests are written within 200 ms', () => {
  answer();
  vi.advanceTimersByTime(199);
  expect(each.text()).toBe('');
  vi.advanceTimersByTime(1);
  expect(each.text()).toContain('"path":"/api/v1/orders/7"');
});

it('lines of ended requests come before a line that is logged later', () => {
  answer();
  each.telemetry.logger.info('later');
  expect(each.text()).toMatch(/"log":"access".*\n.*"message":"later"/);
});

it('the metrics count an ended request at once', async () => {
  answer();
  expect(Object.values(await each.moved('sundial_requests_total'))).toEqual([1]);
  answer();
  const [sample] = await each.telemetry.metrics.read('sundial_requests_total');
  expect(sample?.value).toBe(2);
  answer();
  const snapshot = await each.telemetry.metrics.snapshot();
  const requests = snapshot.find(({ name }) => name === 'sundial_requests_total');
  expect(requests?.values.map(({ value }) => value)).toEqual([3]);
});

it('the ledger gets all ended requests with its last flush', async () => {
  const batches: number[] = [];
  const end = each.telemetry.ledger?.keepIn({
    add: async ({ records }) => void batches.push(records.length),
  });
  answer();
  await end?.();
  expect(batches).toEqual([1]);
});

it('a change of the completion after the end is not logged', async () => {
  const facts = deprecatedFacts();
  answer({}, facts);
  facts.completion.idempotency = 'unknown';
  expect((await each.lines())[0]).not.toHaveProperty('idempotency');
});

it('a request whose client disconnects early is recorded with its facts at that moment', async () => {
  const decision = { ...deprecatedFacts().decision };
  answer({ aborted: true }, { ...deprecatedFacts(), decision });
  decision.carrier = 'query';
  expect((await each.lines())[0]).toMatchObject({ carrier: 'path' });
});

it('at most 64 ended requests wait to be recorded', () => {
  for (let count = 1; count < 64; count += 1) answer();
  const facts = deprecatedFacts();
  const decision = { ...facts.decision };
  answer({}, { ...facts, decision });
  decision.carrier = 'query';
  each.telemetry.logger.info('later');
  expect(each.text()).not.toContain('"carrier":"query"');
});
