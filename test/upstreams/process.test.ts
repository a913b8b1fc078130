// Tests of a sample service as a process: ready line, clean exits, and one line for an unavailable port.
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
  it('prints its URL when ready, serves requests there, and exits cleanly on SIGTERM', async () => {
    const service = run(start, { [variable]: '0' });
    const [word, said, url = ''] = (await firstLine(service.stdout)).trim().split(' ');
    expect([word, said]).toEqual(['ready', name]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    service.kill('SIGTERM');
    expect(await once(service, 'exit')).toEqual([0, null]);
  });
});

describe('any sample service', { timeout: 20_000 }, () => {
  const CATALOG = ['catalog/main.ts'];

  it('exits cleanly on SIGINT, with open requests', async () => {
    const service = run(['echo/main.ts'], { SUNDIAL_ECHO_PORT: '0' });
    const url = (await firstLine(service.stdout)).trim().split(' ')[2];
    const streamed = await fetch(`${url}/echo?chunks=2&every=60000`);
    service.kill('SIGINT');
    expect(await once(service, 'exit')).toEqual([0, null]);
    await expect(streamed.text()).rejects.toThrow();
  });

  it('exits cleanly when its parent process has ended', async () => {
    const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: '0' });
    await firstLine(service.stdout);
    service.disconnect();
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  it('exits even if its parent ended before it was ready', async () => {
    const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: '0' });
    service.disconnect();
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  it('prints one line if its port is taken, and exits with 3', async () => {
    const other = await startCatalog({ port: 0 });
    const service = run(CATALOG, { SUNDIAL_CATALOG_PORT: String(other.port) });
    const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line).toBe(`catalog: port ${other.port} is in use; SUNDIAL_CATALOG_PORT moves it\n`);
    expect(ending).toEqual([3, null]);
    await other.close();
  });

  it('prints that line even if stderr is read late', async () => {
    // A megabyte precedes the line, in a pipe that is not read yet.
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
    'prints one line if "%s" is not a port, and exits with 2',
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
  ])('%s names the setting that moves its files if they cannot be created', async (entry, more, begin) => {
    const file = join(data, 'a-file');
    writeFileSync(file, '');
    const service = run([entry, ...more], { SUNDIAL_DATA: join(file, 'below'), ...NO_PORTS });
    const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line.startsWith(begin), line).toBe(true);
    expect(line).toMatch(/ENOTDIR.*; set SUNDIAL_DATA to a folder for its files\n$/);
    expect(ending).toEqual([3, null]);
  });

  it('prints the same for a database that cannot be opened', async () => {
    const folder = join(data, 'no-database');
    mkdirSync(join(folder, 'orders.db'), { recursive: true });
    const service = run(['orders/main.ts', 'v2'], { SUNDIAL_DATA: folder, ...NO_PORTS });
    const [line] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line).toMatch(/orders\.db: unable to open database file; set SUNDIAL_DATA to a folder/);
  });

  it('the order services require v1 or v2', async () => {
    const service = run(['orders/main.ts'], {});
    const [line, ending] = await Promise.all([firstLine(service.stderr), once(service, 'exit')]);
    expect(line).toBe('usage: node upstreams/orders/main.ts v1|v2\n');
    expect(ending).toEqual([2, null]);
  });
});
