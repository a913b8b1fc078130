// The size of the young generation in a process that creates many short-lived objects.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MEMORY_SETTINGS = new URL('../../gateway/server/memory-settings.ts', import.meta.url).href;
/** More than twice the rounds after which V8 by default grows it to 64 MB. */
const ROUNDS = 15_000;
const MEGABYTE = 1_024 * 1_024;

/** Megabytes after a fixed amount of work. The mocked clock advances with each round. */
function youngAfter(begin: string): number {
  const text = `
    import { mock } from 'node:test';
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepMemoryLow } from '${MEMORY_SETTINGS}';
    mock.timers.enable({ apis: ['setInterval'] });
    ${begin}
    let held = [];
    for (let round = 0; round < ${ROUNDS}; round += 1) {
      for (let count = 0; count < 500; count += 1) held.push({ count, list: [count] });
      if (held.length > 10_000) held = [];
      mock.timers.tick(10);
    }
    process.stdout.write(String(getHeapSpaceStatistics().find((each) => each.space_name === 'new_space').space_size));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    encoding: 'utf8',
  });
  return Number(stdout) / MEGABYTE;
}

it('the young generation stays below 32 MB, and without the setting it does not', () => {
  const bounded = youngAfter('keepMemoryLow();');
  expect(bounded).toBeGreaterThan(1);
  expect(bounded).toBeLessThan(32);
  expect(youngAfter('')).toBeGreaterThan(32);
});
