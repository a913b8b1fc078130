// Invalid policy files while the gateway runs and when it starts.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { BAD_POLICIES, BOMBS } from '../support/bad-policies.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { becomes, openFaulty, startFaulty } from './gateway.ts';
import { peakMb } from './machine.ts';
import { atMost, exactly, type Figure, type Row, within } from './row.ts';

const BAD_FILES = 345;
const SECOND = 1_000;
const SUCCESSFUL = 'sundial_config_last_reload_successful';
const good = (
  await readFile(join(import.meta.dirname, '../journeys/reload/orders.yaml.template'), 'utf8')
).replaceAll('EDITION', '100');

/** About four hundred requests a second over both protocols, with and without a body, until stopped. */
function load(https: number) {
  const [clients, stack] = [[] as Client[], new AsyncDisposableStack()];
  for (const connect of [overHttp1, overHttp2]) clients.push(stack.use(connect(https)));
  const count = { answered: 0, failed: 0 };
  let running = true;
  const ended = (async () => {
    while (running) {
      const asked = clients.flatMap((client) =>
        ['GET', 'POST', 'GET', 'POST', 'GET', 'POST', 'GET', 'POST'].map((method) =>
          client.ask({ method, path: '/api/v2/orders' }).then(
            ({ status, complete }) => status === 200 && complete,
            () => false,
          ),
        ),
      );
      for (const served of await Promise.all(asked)) count[served ? 'answered' : 'failed'] += 1;
      await pause(35);
    }
  })();
  return {
    stop: async () => {
      running = false;
      await ended;
      await stack.disposeAsync();
      return count;
    },
  };
}

async function underLoad(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-bad-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const save = (text: string) => writeFile(join(folder, 'orders.yaml'), text);
  await save(good);
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const fixture = stack.use(await openFaulty({ POLICIES: join(folder, '*.yaml'), ECHO: echo.url }));
  const revision = async () => (await fixture.admin.ask({ path: '/-/ready' })).json.plan;
  const says = (value: number) => async () => (await fixture.metric(SUCCESSFUL)) === value;
  const reload = () => fixture.write({ method: 'POST', path: '/-/reload', body: '{}' });
  const before = await revision();
  const asking = load(fixture.https);

  const [seen, refused]: [number[], number[]] = [[], []];
  let unchanged = 0;
  for (let bad = 0; bad < BAD_FILES; bad += 1) {
    const text =
      BAD_POLICIES[bad % BAD_POLICIES.length]?.(good, 1 + Math.floor(bad / BAD_POLICIES.length)) ?? '';
    const byItself = bad % 15 === Math.floor(bad / 15) % 15;
    if (byItself) {
      await save(good);
      await reload();
      await becomes(says(1), { withinMs: 5 * SECOND });
    }
    const savedAt = performance.now();
    await save(text);
    // Some changes are left to the file watcher; for the others a reload is requested.
    if (!byItself) await reload();
    await becomes(says(0), { withinMs: 5 * SECOND });
    (byItself ? seen : refused).push(performance.now() - savedAt);
    if ((await revision()) === before) unchanged += 1;
  }
  const bombs: number[] = [];
  for (const [, text] of BOMBS) {
    await save(good);
    await reload();
    await save(text);
    const from = performance.now();
    await reload();
    await becomes(says(0), { withinMs: 5 * SECOND });
    bombs.push(performance.now() - from);
  }
  const { answered, failed } = await asking.stop();
  return [
    exactly(`failed requests of ${answered + failed}`, failed, 0),
    exactly('reloads with the same revision', unchanged, BAD_FILES),
    within(`slowest of ${refused.length} reloads with its metric`, Math.max(...refused), SECOND),
    within(`slowest of ${seen.length} noticed by the watch`, Math.max(...seen), SECOND),
    within(`slowest of ${bombs.length} bombs`, Math.max(...bombs), SECOND),
  ];
}

async function atStart(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-bad-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'orders.yaml');
  const manySlips = Array.from({ length: 9_000 }, (_, index) => `slip_${index}: 1\n`).join('');
  const texts = [
    ...BAD_POLICIES.map((make) => make(good, 1)),
    ...BOMBS.map(([, text]) => text),
    `${good}${manySlips}`,
  ];
  const seen = { ms: 0, mb: 0, bytes: 0, well: 0 };
  for (const text of texts) {
    await writeFile(file, text);
    await using own = new AsyncDisposableStack();
    const from = performance.now();
    const { started } = await startFaulty(own, { POLICIES: file, ECHO: 'http://127.0.0.1:9' });
    const timer = setInterval(() => {
      seen.mb = Math.max(seen.mb, peakMb(started.pid) ?? 0);
    }, 5);
    const code = await started.ended;
    clearInterval(timer);
    seen.ms = Math.max(seen.ms, performance.now() - from);
    seen.bytes = Math.max(seen.bytes, Buffer.byteLength(started.stderr + started.stdout));
    const placed = /orders\.yaml:\d+:\d+: error: /.test(started.stderr);
    if (code === 1 && placed && !/^\s+at .*[:/]\w+\.[jt]s/m.test(started.stderr)) seen.well += 1;
  }
  return [
    exactly('refused with exit 1, file, line and no stack', seen.well, texts.length),
    within('slowest', seen.ms, 3 * SECOND),
    atMost('most memory', seen.mb, 400, 'MB'),
    atMost('longest text', seen.bytes / 1_000, 20, 'KB'),
  ];
}

export const badPolicies: readonly Row[] = [
  { what: `${BAD_FILES} bad files under load`, measure: underLoad },
  { what: 'bad files at start', measure: atStart },
];
