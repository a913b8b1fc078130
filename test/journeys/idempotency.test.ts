// Requests with an Idempotency-Key are executed once and replayed, on a shared store and on separate ones.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHouse } from './idempotency/house.ts';
import { keys } from './idempotency/keys.ts';
import { killed } from './idempotency/killed.ts';
import { outcomes } from './idempotency/outcomes.ts';
import { replays } from './idempotency/replays.ts';
import { twoGateways } from './idempotency/two-gateways.ts';
import { unkept } from './idempotency/unkept.ts';

const house = createHouse();
beforeAll(house.open);
afterAll(house.close);

killed(house);
replays(house);
unkept(house);
keys(house);
outcomes(house);
twoGateways(house);

it('a metric counts the outcomes of keys', async () => {
  const counted = (name: string) =>
    house.own().metric(`sundial_idempotency_keys_total{api="orders",version="v2",outcome="${name}"}`);
  for (const name of ['claimed', 'replayed', 'mismatch', 'unknown', 'unprotected', 'conflict'])
    expect(await counted(name), name).toBeGreaterThan(0);
});
