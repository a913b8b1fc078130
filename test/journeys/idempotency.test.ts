// Requests with an Idempotency-Key are executed once and replayed, on a shared store and on separate ones.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFixture } from './idempotency/fixture.ts';
import { keys } from './idempotency/keys.ts';
import { killed } from './idempotency/killed.ts';
import { outcomes } from './idempotency/outcomes.ts';
import { replays } from './idempotency/replays.ts';
import { twoGateways } from './idempotency/two-gateways.ts';
import { unkept } from './idempotency/unkept.ts';

const fixture = createFixture();
beforeAll(fixture.open);
afterAll(fixture.close);

killed(fixture);
replays(fixture);
unkept(fixture);
keys(fixture);
outcomes(fixture);
twoGateways(fixture);

it('a metric counts the outcomes of keys', async () => {
  const counted = (name: string) =>
    fixture.own().metric(`sundial_idempotency_keys_total{api="orders",version="v2",outcome="${name}"}`);
  for (const name of ['claimed', 'replayed', 'mismatch', 'unknown', 'unprotected', 'conflict'])
    expect(await counted(name), name).toBeGreaterThan(0);
});
