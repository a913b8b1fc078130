// Test projects: unit (pure), contracts (stores on embedded and a real Redis), journeys (real sockets, whole gateway),
// wire (raw bytes on both sides of a whole gateway).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          testTimeout: 20_000,
          include: [
            'test/*.test.ts',
            'test/{policy,plan,identity,exchange,forward,server,telemetry,upstreams,cli,admin,soak}/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'contracts',
          include: ['test/contracts/**/*.test.ts'],
          globalSetup: ['test/support/redis.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'journeys',
          include: ['test/journeys/**/*.test.ts'],
          globalSetup: ['test/support/redis.ts'],
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'wire',
          include: ['test/wire/**/*.test.ts'],
        },
      },
    ],
    maxWorkers: 2,
  },
});
