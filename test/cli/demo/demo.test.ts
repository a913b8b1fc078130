// The demo as a process: its sample services start, respond, and end with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { startCatalog } from '../../../upstreams/catalog/catalog.ts';
import { startIssuer } from '../../../upstreams/identity/server.ts';

const DATA = mkdtempSync(join(tmpdir(), 'sundial-demo-'));
afterAll(() => rmSync(DATA, { recursive: true, force: true }));

const ANY_PORT = {
  SUNDIAL_ISSUER_PORT: '0',
  SUNDIAL_ORDERS_V1_PORT: '0',
  SUNDIAL_ORDERS_V2_PORT: '0',
  SUNDIAL_CATALOG_PORT: '0',
  SUNDIAL_PAYMENTS_PORT: '0',
  SUNDIAL_ECHO_PORT: '0',
  SUNDIAL_WEBHOOKS_PORT: '0',
  SUNDIAL_RECEIVER_PORT: '0',
  SUNDIAL_CLIENT_PORT: '0',
};

interface Demo {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
  /** The children share its stderr, so this resolves after the last child has ended. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
}

let running: Demo | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
  running = undefined;
});

function start(environment: Record<string, string> = {}, ...more: string[]): Demo {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run-demo.ts'), ...more], {
    env: { ...process.env, ...ANY_PORT, SUNDIAL_DATA: DATA, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const demo: Demo = {
    child,
    stdout: '',
    stderr: '',
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal }))),
  };
  child.stdout.on('data', (chunk) => {
    demo.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    demo.stderr += String(chunk);
  });
  running = demo;
  return demo;
}

async function untilBanner(demo: Demo): Promise<Map<string, { url: string; pid: number }>> {
  await vi.waitFor(() => expect(demo.stdout).toContain('Ctrl-C stops everything'), {
    timeout: 50_000,
    interval: 50,
  });
  const rows = demo.stdout.matchAll(/^ {2}(\S+) +(https?:\S+) +pid (\d+)$/gm);
  return new Map(Array.from(rows, ([, name = '', url = '', pid]) => [name, { url, pid: Number(pid) }]));
}

describe('the demo', { timeout: 60_000 }, () => {
  it('starts all sample services, continues if one is killed, and ends on Ctrl-C', async () => {
    const demo = start();
    const samples = await untilBanner(demo);
    const services = ['orders-v1', 'orders-v2', 'catalog', 'payments', 'echo', 'webhooks', 'client'];
    expect([...samples.keys()].sort()).toEqual(['identity', 'receiver', ...services].sort());
    const statusOf = async (name: string) => (await fetch(`${samples.get(name)?.url}/healthz`)).status;
    for (const name of services) expect(await statusOf(name)).toBe(200);
    const port = new URL(samples.get('identity')?.url ?? '').port;
    expect(demo.stdout).toContain(`issuer port ${port}\n`);
    expect(demo.stdout).toContain(`$(SUNDIAL_ISSUER_PORT='${port}' SUNDIAL_DATA='${DATA}' npm run -s token)`);
    expect(demo.stderr).toBe('');

    process.kill(samples.get('orders-v1')?.pid ?? 0, 'SIGKILL');
    const ended = 'sundial: orders-v1 ended (SIGKILL); its routes answer 502\n';
    await vi.waitFor(() => expect(demo.stderr).toBe(ended), { timeout: 20_000 });
    expect(await statusOf('orders-v2')).toBe(200);
    // npm forwards the interrupt that the terminal has already sent.
    demo.child.kill('SIGINT');
    demo.child.kill('SIGINT');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    expect(demo.stdout).toContain('gateway closing');
    expect(demo.stderr).toBe(ended);
  });

  it('ends its services when it is killed', async () => {
    const demo = start();
    const samples = await untilBanner(demo);
    demo.child.kill('SIGKILL');
    expect(await demo.ended).toEqual({ code: null, signal: 'SIGKILL' });
    for (const { url } of samples.values()) await expect(fetch(url)).rejects.toThrow();
  });

  it('prints one line if there are no sample services, as in the image', async () => {
    const demo = start({}, 'without-samples');
    expect(await demo.ended).toEqual({ code: 3, signal: null });
    expect([demo.stdout, demo.stderr]).toEqual([
      '',
      'sundial: cannot start: there are no sample services here; run `npm ci && npm start` in a clone of the project, or ' +
        '`sundial init --service <url>` and `sundial run` for a service of yours\n',
    ]);
  });

  it('exits with 3 and names the variable if a port is in use', async () => {
    const other = await startCatalog({ port: 0 });
    const demo = start({ SUNDIAL_CATALOG_PORT: String(other.port) });
    expect(await demo.ended).toEqual({ code: 3, signal: null });
    expect(demo.stderr.split('\n')).toEqual([
      `catalog: port ${other.port} is in use; SUNDIAL_CATALOG_PORT moves it`,
      '',
    ]);
    expect(demo.stdout).toBe('');
    await other.close();
  });

  it('prints a line for each port in use, and suggests another running demo', async () => {
    const other = await startCatalog({ port: 0 });
    const port = String(other.port);
    const demo = start({ SUNDIAL_CATALOG_PORT: port, SUNDIAL_ECHO_PORT: port });
    expect(await demo.ended).toEqual({ code: 3, signal: null });
    const lines = demo.stderr.trimEnd().split('\n');
    expect(lines.pop()).toBe('sundial: cannot start: is another demo running?');
    expect(lines.toSorted()).toEqual([
      `catalog: port ${port} is in use; SUNDIAL_CATALOG_PORT moves it`,
      `echo: port ${port} is in use; SUNDIAL_ECHO_PORT moves it`,
    ]);
    await other.close();
  });

  it('stops the services if the gateway does not start, and throws its error', async () => {
    const demo = start({}, 'gateway-fails');
    expect((await demo.ended).code).toBe(1);
    expect(demo.stderr).toContain('the gateway does not start');
  });

  it('reports an invalid port of the gateway with its variable, and starts nothing', async () => {
    const demo = start({ SUNDIAL_HTTPS_PORT: 'abc' });
    expect(await demo.ended).toEqual({ code: 2, signal: null });
    expect(demo.stderr).toBe('sundial: cannot start: SUNDIAL_HTTPS_PORT must be a port number, not "abc"\n');
  });

  it('prints no banner if it is interrupted while it starts', async () => {
    const demo = start({}, 'interrupted-early');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    expect(demo.stdout).toContain('gateway closing');
    expect(demo.stdout).not.toContain('Sundial is running');
  });

  it('exits at once on a second interrupt while it drains', async () => {
    const demo = start({}, 'never-drains');
    await untilBanner(demo);
    const pressing = setInterval(() => demo.child.kill('SIGINT'), 100);
    expect(await demo.ended).toEqual({ code: 130, signal: null });
    clearInterval(pressing);
  });

  it('prints a token of the sample issuer and nothing else', async () => {
    const issuer = await startIssuer({ port: 0, dataFolder: DATA, issuer: 'https://127.0.0.1:8443/auth' });
    const demo = start({ SUNDIAL_ISSUER_PORT: String(issuer.port) }, 'token');
    expect((await demo.ended).code).toBe(0);
    expect(demo.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(demo.stderr).toBe('');
    await issuer.close();
  });

  it('exits with an error if the token cannot be made', async () => {
    const demo = start({ SUNDIAL_ISSUER_PORT: 'none' }, 'token');
    expect((await demo.ended).code).not.toBe(0);
    expect(demo.stdout).toBe('');
  });
});
