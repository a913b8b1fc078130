// What the environment says of the webhooks service: its store, its key, and which receivers are our own.
// Read by main.ts; what is wrong with it is one sentence.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ListenOptions } from '../service/listen.ts';
import type { DestinationRules } from './destination.ts';
import { loadSealingKey } from './secret.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { WebhookStore } from './store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Surroundings {
  readonly store: WebhookStore;
  readonly sealingKey: Buffer;
  readonly destinations: DestinationRules;
  readonly ca: () => string | undefined;
  readonly metrics: ListenOptions | undefined;
}

/**
 * `SUNDIAL_DATA`: folder of webhooks.db and webhooks-key, default ./data. `SUNDIAL_WEBHOOKS_STORE`: the URL of a Redis, for
 * several processes. `SUNDIAL_WEBHOOKS_KEY`: the key itself, 32 bytes in base64, which they share. `SUNDIAL_WEBHOOKS_ALLOW`:
 * `host:port` of receivers of our own, separated by commas, and `SUNDIAL_WEBHOOKS_CA`: files of the certificates that
 * they are trusted by, separated likewise, which may come later. `SUNDIAL_WEBHOOKS_DENY`: public addresses of our own, which nobody makes us call.
 * `SUNDIAL_WEBHOOKS_METRICS`: `host:port` of a listener that has /metrics and nothing else, default none.
 *
 * @throws Error with a sentence for the operator
 */
export async function openSurroundings(
  environment: Environment,
  { now, onFault }: { readonly now: () => number; readonly onFault: (error: unknown) => void },
): Promise<Surroundings> {
  const folder = resolve(environment.SUNDIAL_DATA || './data');
  const metrics = readListener(environment.SUNDIAL_WEBHOOKS_METRICS);
  const caFiles = listed(environment.SUNDIAL_WEBHOOKS_CA);
  return {
    metrics,
    sealingKey: readKey(environment.SUNDIAL_WEBHOOKS_KEY) ?? loadSealingKey(folder),
    destinations: {
      allow: readAllowed(environment.SUNDIAL_WEBHOOKS_ALLOW),
      deny: listed(environment.SUNDIAL_WEBHOOKS_DENY),
    },
    ca: () => {
      const found = caFiles.filter((file) => existsSync(file));
      return found.length === 0 ? undefined : found.map((file) => readFileSync(file, 'utf8')).join('\n');
    },
    store: await openStore(environment.SUNDIAL_WEBHOOKS_STORE, folder, now, onFault),
  };
}

async function openStore(
  url: string | undefined,
  folder: string,
  now: () => number,
  onFault: (error: unknown) => void,
): Promise<WebhookStore> {
  if (!url) return openSqliteStore({ file: join(folder, 'webhooks.db'), now });
  if (!/^rediss?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new Error('SUNDIAL_WEBHOOKS_STORE must be a redis:// or rediss:// URL, or left out');
  }
  // Most start without a Redis, and then without loading what speaks to one.
  const { openRedisStore } = await import('./redis/store.ts');
  return openRedisStore({ url, now, onFault });
}

function readKey(written: string | undefined): Buffer | undefined {
  if (!written) return undefined;
  const key = Buffer.from(written, 'base64');
  if (key.length !== 32) throw new Error('SUNDIAL_WEBHOOKS_KEY must be 32 bytes in base64');
  return key;
}

function readListener(written: string | undefined): ListenOptions | undefined {
  if (!written) return undefined;
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(written) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new Error('SUNDIAL_WEBHOOKS_METRICS must be host:port, as 0.0.0.0:9903, or left out');
  return { host, port: Number(port) };
}

/** Anything else would allow nothing, and nobody would be told. */
function readAllowed(written: string | undefined): readonly string[] {
  const allowed = listed(written);
  const wrong = allowed.find((each) => !/^[\w.:[\]-]+:\d{1,5}$/.test(each));
  if (wrong === undefined) return allowed;
  throw new Error(`SUNDIAL_WEBHOOKS_ALLOW must be host:port, separated by commas, not "${wrong}"`);
}

function listed(written = ''): readonly string[] {
  return written.split(',').flatMap((each) => each.trim() || []);
}
