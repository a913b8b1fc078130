// How large the young generation of a process becomes that makes many objects which live for a moment.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MEMORY_SETTINGS = new URL('../../gateway/server/memory-settings.ts', import.meta.url).href;
const BUSY_MS = 4_000;
const MEGABYTE = 1_024 * 1_024;

it('it is bounded to less than V8 would let it grow to', () => {
  const text = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepMemoryLow } from '${MEMORY_SETTINGS}';
    keepMemoryLow();
    const end = performance.now() + ${BUSY_MS};
    let held = [];
    (function round() {
      for (let count = 0; count < 500; count += 1) held.push({ count, list: [count] });
      if (held.length > 3_000) held = [];
      if (performance.now() < end) setImmediate(round);
      else process.stdout.write(String(getHeapSpaceStatistics().find((each) => each.space_name === 'new_space').space_size));
    })();`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    encoding: 'utf8',
  });
  expect(Number(stdout) / MEGABYTE).toBeGreaterThan(1);
  expect(Number(stdout) / MEGABYTE).toBeLessThan(40);
}, 20_000);
