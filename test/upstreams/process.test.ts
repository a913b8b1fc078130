// A sample service as a process: its ready line, its clean ends, and its one line when it cannot have its port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startCatalog } from '../../upstreams/catalog/catalog.ts';

const SERVICES = [
  { name: 'orders-v1', start: ['orders/main.ts', 'v1'], variable: 'SUNDIAL_ORDERS_V1_PORT' },
  { name: 'orders-v2', start: ['orders/main.ts', 'v2'], variable: 'SUNDIAL_ORDERS_V2_PORT' },
  { name: 'catalog', start: ['catalog/main.ts'], variable: 'SUNDIAL_CATALOG_PORT' },
  { name: 'payments', start: ['payments/main.ts'], variable: 'SUNDIAL_PAYMENTS_PORT' },
  { name: 'echo', start: ['echo/main.ts'], variable: 'SUNDIAL_ECHO_PORT' },
  { name: 'webhooks', start: ['webhooks/main.ts'], variable: 'SUNDIAL_WEBHOOKS_PORT' },
  { name: 'client', start: ['client/main.ts'], variable: 'SUNDIAL_CLIENT_PORT' },
];

const NO_PORTS = Object.fromEntries(
  ['ORDERS_V2', 'WEBHOOKS', 'ISSUER', 'RECEIVER'].map((name) => [`SUNDIAL_${name}_PORT`, '0']),
);

let child: ChildProcess | undefined;
const data = mkdtempSync(join(tmpdir(), 'sundial-processes-'));
afterAll(() => rmSync(data, { recursive: true }));
afterEach(() => child?.kill('SIGKILL'));

function run(start: readonly string[], environment: Record<string, string>): ChildProcess {
  const [entry = '', ...more] = start;
  child = spawn(process.execPath, [join(import.meta.dirname, '../../upstreams', entry), ...more], {
    env: { ...process.env, SUNDIAL_DATA: data, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return child;
}

async function firstLine(stream: ChildProcess['stdout']): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text;
}

describe.each(SERVICES)('the process of $name', { timeout: 20_000 }, ({ name, start, variable }) => {
  it('says where it is ready, answers there, and ends cleanly on SIGTERM', async () => {
    const service = run(start, { [variable]: '0' });
    const [word, said, url = ''] = (await firstLine(service.stdout)).trim().split(' ');
    expect([word, said]).toEqual(['ready', name]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    service.kill('SIGTERM');
    expect(await once(service, 'exit')).toEqual([0, null]);
  });
});

describe('any of them', { timeout: 20_000 }, () => {
  const CATALOG = ['catalog/main.ts'];

  it('ends cleanly on SIGINT, open requests included', async () => {
    const service = run(['echo/main.ts'], { SUNDIAL_ECHO_PORT: '0' });
    const url = (await firstLine(service.stdout)).trim().split(' ')[2];
    const streamed = await fetch(`${url}/echo?chunks=2&every=60000`);
    service.kill('SIGINT');
    expect(await once(service, 'exit')).toEqual([0, null]);
    await expect(streamed.text()).rejects.toThrow();
  });

  it('ends cleanly when the process that started it is gone', async () => {
    const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: '0' });
    await firstLine(service.stdout);
    service.disconnect();
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  it('ends even when that process was gone before it was ready', async () => {
    const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: '0' });
    service.disconnect();
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  it('says in one line that its port is taken, and ends with 3', async () => {
    const other = await startCatalog({ port: 0 });
    const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: String(other.port) });
    const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line).toBe(`catalog: port ${other.port} is in use; SUNDIAL_CATALOG_PORT moves it\n`);
    expect(ending).toEqual([3, null]);
    await other.close();
  });

  it('says it even where its stderr is read late: what waits there is not cut off by its end', async () => {
    // A megabyte stands before the line, in a pipe that nobody reads yet; the size of what waits is told until it exits.
    const backlog = `data:text/javascript,${encodeURIComponent(
      `process.stderr.write('.'.repeat(1e6));
       setInterval(() => process.send(process.stderr.writableLength), 5).unref();`,
    )}`;
    const other = await startCatalog({ port: 0 });
    const service = spawn(
      process.execPath,
      ['--import', backlog, join(import.meta.dirname, '../../upstreams/catalog/main.ts')],
      {
        env: { ...process.env, SUNDIAL_CATALOG_PORT: String(other.port) },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    child = service;
    const ended = once(service, 'exit');
    const lineWaits = new Promise<void>((resolve) => {
      service.on('message', (waiting: number) => {
        if (waiting > 1e6) resolve();
      });
    });
    await Promise.race([lineWaits, ended]);
    let said = '';
    for await (const chunk of service.stderr ?? []) said += String(chunk);
    expect(said.replace(/^\.*/, '')).toBe(
      `catalog: port ${other.port} is in use; SUNDIAL_CATALOG_PORT moves it\n`,
    );
    expect(await ended).toEqual([3, null]);
    await other.close();
  });

  it.each(['http', '-1', '65536', ''])(
    'says in one line that "%s" is no port, and ends with 2',
    async (port) => {
      const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: port });
      const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
      expect(line).toBe(`catalog: SUNDIAL_CATALOG_PORT must be a port number, not "${port}"\n`);
      expect(ending).toEqual([2, null]);
    },
  );

  it.each([
    ['orders/main.ts', ['v2'], 'orders-v2: '],
    ['webhooks/main.ts', [], 'webhooks: '],
    ['identity/main.ts', [], 'identity: '],
    ['receiver/main.ts', [], 'receiver: '],
  ])('%s says what moves its files where they cannot be made', async (entry, more, begin) => {
    const file = join(data, 'a-file');
    writeFileSync(file, '');
    const service = run([entry, ...more], { SUNDIAL_DATA: join(file, 'below'), ...NO_PORTS });
    const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line.startsWith(begin), line).toBe(true);
    expect(line).toMatch(/ENOTDIR.*; SUNDIAL_DATA=<folder> says where else its files may be\n$/);
    expect(ending).toEqual([3, null]);
  });

  it('a database that cannot be opened is such a file, too', async () => {
    const folder = join(data, 'no-database');
    mkdirSync(join(folder, 'orders.db'), { recursive: true });
    const service = run(['orders/main.ts', 'v2'], { SUNDIAL_DATA: folder, ...NO_PORTS });
    const [line] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line).toMatch(/orders\.db: unable to open database file; SUNDIAL_DATA=<folder>/);
  });

  it('the order services ask which of the two is meant', async () => {
    const service = run(['orders/main.ts'], {});
    const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line).toBe('usage: node upstreams/orders/main.ts v1|v2\n');
    expect(ending).toEqual([2, null]);
  });
});
