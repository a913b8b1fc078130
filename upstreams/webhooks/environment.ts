// Reads the environment of the webhooks service: store, key, own receivers and metrics listener.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ListenOptions } from '../service/listen.ts';
import type { DestinationRules } from './destination.ts';
import { loadSealingKey } from './secret.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { WebhookStore } from './store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface WebhooksEnvironment {
  readonly store: WebhookStore;
  readonly sealingKey: Buffer;
  readonly destinations: DestinationRules;
  readonly ca: () => string | undefined;
  readonly metrics: ListenOptions | undefined;
}

/**
 * `SUNDIAL_DATA`: folder of webhooks.db and webhooks-key, default ./data. `SUNDIAL_WEBHOOKS_STORE`: URL of a Redis, for several
 * processes. `SUNDIAL_WEBHOOKS_KEY`: their shared key, 32 bytes in base64. `SUNDIAL_WEBHOOKS_ALLOW`: `host:port` of our own
 * receivers, separated by commas. `SUNDIAL_WEBHOOKS_CA`: files of their certificates, separated by commas, which may be created
 * later. `SUNDIAL_WEBHOOKS_DENY`: our own public addresses, which must not be called. `SUNDIAL_WEBHOOKS_METRICS`: `host:port` of
 * a listener for /metrics only, default none.
 * @throws Error with a sentence for the operator
 */
export async function openEnvironment(
  environment: Environment,
  { now, onFault }: { readonly now: () => number; readonly onFault: (error: unknown) => void },
): Promise<WebhooksEnvironment> {
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
    throw new Error('SUNDIAL_WEBHOOKS_STORE must be a redis:// or rediss:// URL, or unset');
  }
  // Imported only here: most processes use no Redis.
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
    throw new Error('SUNDIAL_WEBHOOKS_METRICS must be host:port, such as 0.0.0.0:9903, or unset');
  return { host, port: Number(port) };
}

/** Checked here: another form would match no receiver without any error. */
function readAllowed(written: string | undefined): readonly string[] {
  const allowed = listed(written);
  const wrong = allowed.find((each) => !/^[\w.:[\]-]+:\d{1,5}$/.test(each));
  if (wrong === undefined) return allowed;
  throw new Error(`SUNDIAL_WEBHOOKS_ALLOW must be host:port, separated by commas, not "${wrong}"`);
}

function listed(written = ''): readonly string[] {
  return written.split(',').flatMap((each) => each.trim() || []);
}
