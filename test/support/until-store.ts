// Waits until gateways have noticed the state of their Redis.
import { expect, vi } from 'vitest';
import type { RunningGateway } from './gateway.ts';

/** Reads the metric that operators watch. */
export const untilStore = (gateways: readonly Pick<RunningGateway, 'metric'>[], up: boolean) =>
  vi.waitFor(
    async () => {
      for (const gateway of gateways)
        expect(await gateway.metric('sundial_store_up{store="redis"}')).toBe(up ? 1 : 0);
    },
    { timeout: 20_000, interval: 50 },
  );
