// A reload of many files uses the serving thread only in short turns.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { policyText, writePolicySet } from '../scale/policy-set.ts';
import { turnsDuring } from '../scale/turns.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';

const SHAPE = { apis: 200, operations: 5 };
/** Milliseconds of CPU time. Compiling these files in one turn takes several times as long. */
const LONGEST_TURN = 50;

it('a reload of two hundred files uses the serving thread in short turns only', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-scale-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const set = await writePolicySet(folder, SHAPE, echo.url);
  const gateway = stack.use(await runGateway({ config: set.configFile, reloadThread: true }));
  const client = stack.use(overHttp1(gateway.http, { tls: false }));
  const ask = (path: string) => client.ask({ path, headers: { host: 'api.example.com' } });
  const worst: number[] = [];
  for (const edition of [2, 3, 4]) {
    for (let api = 0; api < SHAPE.apis; api += 1)
      await writeFile(set.policyFile(api), policyText(api, SHAPE, echo.url, edition));
    const { longestWork } = await turnsDuring(() => gateway.reload());
    worst.push(longestWork);
    const { headers } = await ask('/api/v1/api-00199/part-0/7');
    expect(headers.sunset).toBe('Wed, 15 Sep 2027 00:00:00 GMT');
    const whole = await ask('/api/v1/api-00199/other');
    expect(whole.headers.sunset).toContain(`0${edition} Jan 2028`);
  }
  expect(Math.min(...worst)).toBeLessThan(LONGEST_TURN);
}, 60_000);
