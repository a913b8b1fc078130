// Starts the demo as `npm start` does, on free ports and with a data folder of its own.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SAMPLE_SERVICES } from '../../../gateway/cli/demo/sample-services.ts';
import { freePorts } from '../../support/ports.ts';

export interface BrowserDemo extends AsyncDisposable {
  /** Origins, without a trailing slash. */
  readonly gateway: string;
  readonly admin: string;
  readonly service: (name: string) => string;
  readonly dataFolder: string;
}

const ROOT = join(import.meta.dirname, '../../..');
const LISTENERS = ['SUNDIAL_HTTPS_PORT', 'SUNDIAL_HTTP_PORT', 'SUNDIAL_ADMIN_PORT'];
const READY_WITHIN_MS = 30_000;

/** `prepare` gets the data folder before the start. Rejects with the output if there is no banner in time. */
export async function startBrowserDemo({
  prepare,
}: {
  readonly prepare?: (dataFolder: string) => Promise<void>;
} = {}): Promise<BrowserDemo> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'sundial-browser-'));
  await prepare?.(dataFolder);
  const variables = [...LISTENERS, ...SAMPLE_SERVICES.map(({ variable }) => variable)];
  const ports = await freePorts(variables.length);
  const moved = Object.fromEntries(variables.map((name, index) => [name, String(ports[index])]));
  const child = spawn(process.execPath, [join(ROOT, 'gateway/sundial.js'), 'demo'], {
    cwd: ROOT,
    env: { ...process.env, ...moved, SUNDIAL_DATA: dataFolder, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  // A run that takes too long exits without disposing of the demo.
  process.once('exit', () => child.kill('SIGTERM'));
  let said = '';
  const banner = new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      said += chunk.toString();
      if (said.includes('Ctrl-C stops everything.')) resolve();
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('close', () => reject(new Error(`the demo ended:\n${said}`)));
    setTimeout(() => reject(new Error(`the demo shows no banner:\n${said}`)), READY_WITHIN_MS).unref();
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(dataFolder, { recursive: true, force: true });
  };
  await banner.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const at = (variable: string): string => `127.0.0.1:${moved[variable]}`;
  return {
    gateway: `https://${at('SUNDIAL_HTTPS_PORT')}`,
    admin: `http://${at('SUNDIAL_ADMIN_PORT')}`,
    service: (name) => {
      const found = SAMPLE_SERVICES.find((service) => service.name === name);
      if (found === undefined) throw new Error(`the demo has no ${name}`);
      return `http://${at(found.variable)}`;
    },
    dataFolder,
    [Symbol.asyncDispose]: stop,
  };
}
