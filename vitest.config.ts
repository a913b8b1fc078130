// Test projects: one without Redis, one with a real Redis, and the tests of the transport once more on the general plane.
// Each project costs a start of every worker, so tests that need the same surroundings share one.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

// Loading the gateway costs more than most files that test it: a process that has loaded it runs many of them.
// No module of the gateway holds state, and what a test changes for the whole process it puts back.
const isolate = false;

// Node loads the tests and what they test as it does for a user: no test mocks a module, so there is nothing to transform.
const experimental = { viteModuleRunner: false, nodeLoader: false };

// Each process and each thread that a test starts finds compiled what another one has compiled, where `sundial` keeps it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/sundial');
process.env.NODE_COMPILE_CACHE_PORTABLE ??= '1';

// How long a test waits for what it expects says nothing of the gateway: only that a busy machine is waited for.
const expect = { poll: { timeout: 20_000 } };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          isolate,
          experimental,
          expect,
          testTimeout: 60_000,
          include: [
            'test/*.test.ts',
            'test/{policy,plan,identity,exchange,upstream,plane,server,telemetry,announce,upstreams,cli,admin,soak}/**/*.test.ts',
            // Raw bytes on both sides of a whole gateway.
            'test/wire/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'redis',
          isolate,
          experimental,
          expect,
          // Stores on SQLite and on Redis; whole gateways over real sockets.
          include: ['test/contracts/**/*.test.ts', 'test/journeys/**/*.test.ts'],
          globalSetup: ['test/support/redis.ts'],
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'general plane',
          isolate,
          experimental,
          expect,
          // Tests that name no plane run on the fast one.
          env: { TEST_PLANE: 'general' },
          include: ['test/plane/*.test.ts', 'test/wire/suite.test.ts'],
          testTimeout: 60_000,
        },
      },
    ],
    globalSetup: ['test/support/compiled.ts'],
    // Twice the cores of the smallest machine: about half of the time a file waits, for a timeout, a process or a socket.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
  },
});
