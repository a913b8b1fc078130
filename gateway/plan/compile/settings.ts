// Compiles `config/gateway.yaml` to Settings: fills in defaults, makes paths absolute.
import { dirname, resolve } from 'node:path';
import type { Rate } from '../../policy/notation.ts';
import type { Limit } from '../../policy/rate-limit/limit.ts';
import type { GatewayFile, WrittenStore } from '../grammar/gateway-grammar.ts';
import { LEDGER_DEFAULTS, wholeLedger } from '../grammar/ledger-section.ts';
import { NO_DEFAULT } from '../grammar/listeners-section.ts';
import { WRITTEN_LOG_LEVEL } from '../grammar/logs-section.ts';
import { BEFORE_SUNSET_DEFAULT, beforeSunset } from '../grammar/notify-section.ts';
import type {
  AccessLogSettings,
  IdentitySettings,
  NotifySettings,
  Settings,
  StoreSettings,
  TracingSettings,
} from '../settings.ts';
import { compileBounds, compileDrain, compileOverload, planeOf } from './bounds.ts';

const DEFAULT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
const DEFAULT_CONSUMER = ['client_id', 'azp', 'sub'] as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** 50 ms: the most a store may add to a request (RL-13). */
const DEFAULT_STORE_TIMEOUT_MS = 50;

export interface Places {
  /** Absolute. Paths in the file are relative to its folder. */
  readonly configFile: string;
  /** Base of the data folder and the embedded store. */
  readonly cwd: string;
  /** Digest of the gateway file. */
  readonly revision: string;
}

export function compileSettings(file: GatewayFile, places: Places): Settings {
  const fromConfig = (path: string) => resolve(dirname(places.configFile), path);
  const dataFolder = resolve(places.cwd, file.data ?? './data');
  const { https, http, admin, metrics } = file.listeners;
  return {
    public: file.public,
    listeners: {
      https: https && {
        address: https.address,
        plane: planeOf(https.plane, file),
        hstsSeconds: https.hsts === undefined ? undefined : Math.floor(https.hsts / 1_000),
        certificates: (https.tls?.certificates ?? []).map(({ names, cert, key }) => ({
          names,
          cert: fromConfig(cert),
          key: fromConfig(key),
        })),
        defaultName: https.tls?.default === NO_DEFAULT ? undefined : https.tls?.default,
        refusesNameless: https.tls?.default === NO_DEFAULT,
        clientCertificates: https.tls?.client_certificates && {
          ca: fromConfig(https.tls.client_certificates.ca),
          required: https.tls.client_certificates.mode === 'required',
        },
      },
      http: http && {
        address: http.address,
        plane: planeOf(http.plane, file),
        mode: http.mode ?? 'reject',
      },
      admin: admin && { address: admin.address, token: admin.token },
      metrics: metrics && { address: metrics.address },
    },
    trustedProxies: file.trusted_proxies ?? [],
    sendsForwarded: file.forwarded === 'rfc7239',
    store: compileStore(file.store, dataFolder, places.cwd),
    storeTimeoutMs: file.store_timeout ?? DEFAULT_STORE_TIMEOUT_MS,
    replicas: file.replicas ?? 1,
    workers: file.workers ?? 1,
    identities: compileIdentities(file.identity ?? {}),
    dataFolder,
    policies: [fromConfig(file.policies)],
    bounds: compileBounds(file),
    overload: compileOverload(file),
    drain: compileDrain(file),
    logLevel: file.log_level ?? WRITTEN_LOG_LEVEL,
    accessLog: compileAccessLog(file.access_log),
    tracing: compileTracing(file.tracing),
    ledger: compileLedger(file.ledger),
    notify: compileNotify(file.notify),
    webhookDeliveries: file.notify?.webhooks?.deliveries,
    guard: guardLimit(file.guard),
    credentialsInUrl: file.credentials_in_url ?? [],
    deprecationForm: file.deprecation_header ?? 'rfc9745',
    start: file.start ?? 'accepted',
    paths: file.paths,
    revision: places.revision,
  };
}

function compileStore(store: WrittenStore | undefined, dataFolder: string, cwd: string): StoreSettings {
  if (store === undefined || store.kind === 'data-folder') return { kind: 'embedded', folder: dataFolder };
  return store.kind === 'embedded' ? { kind: 'embedded', folder: resolve(cwd, store.folder) } : store;
}

type IdentityFiles = NonNullable<GatewayFile['identity']>;

/** Consumer ids of one identity must not start with the prefix of another, unless its own prefix starts with it. */
function compileIdentities(files: IdentityFiles): readonly IdentitySettings[] {
  const all = new Set(Object.values(files).flatMap((file) => prefixIn(file) || []));
  return Object.entries(files).map(([name, file]) => {
    const identity = compileIdentity(name, file);
    // The operator names the consumers of keys.
    if (all.size === 0 || identity.kind === 'keys') return identity;
    const own = prefixIn(file) ?? '';
    const others = [...all].filter((other) => !own.startsWith(other));
    return { ...identity, prefixes: { own, others } };
  });
}

function prefixIn(file: IdentityFiles[string]): string | undefined {
  return 'prefix' in file ? file.prefix : undefined;
}

function compileIdentity(name: string, file: IdentityFiles[string]): IdentitySettings {
  if ('header' in file) return { kind: 'keys', name, header: file.header };
  if ('certificate' in file) {
    const { consumer, scopes = [] } = file.certificate;
    return { kind: 'certificate', name, consumer, scopes };
  }
  const consumerClaims = file.consumer ?? DEFAULT_CONSUMER;
  if ('introspection' in file) {
    const { introspection: endpoint, client, issuer, audience, token_cache: tokenCacheMs = MINUTE_MS } = file;
    return { kind: 'introspection', name, endpoint, client, issuer, audience, consumerClaims, tokenCacheMs };
  }
  return {
    kind: 'jwt',
    name,
    issuer: file.issuer,
    audience: file.audience,
    jwksUrl: file.jwks ?? `${file.issuer.replace(/\/$/, '')}/.well-known/jwks.json`,
    algorithms: file.algorithms ?? DEFAULT_ALGORITHMS,
    consumerClaims,
    ...(file.profile !== undefined && { requiredClaims: ['client_id', 'jti'] }),
    maxLifetimeSeconds: Math.floor((file.max_lifetime ?? HOUR_MS) / 1_000),
    // RFC 9068 section 4: accept access tokens only (JWT-5).
    tokenTypes: (file.types ?? ['at+jwt']).map((type) => type.toLowerCase().replace(/^application\//, '')),
    tokenCacheMs: file.token_cache ?? 5 * MINUTE_MS,
  };
}

function compileAccessLog(file: GatewayFile['access_log'] = {}): AccessLogSettings {
  return { fields: file.fields ?? 'all', sampled: file.sample ?? 1, excluded: file.exclude ?? [] };
}

function compileTracing(tracing: GatewayFile['tracing']): TracingSettings {
  if (tracing === 'off') return { starts: false, sampled: 0 };
  return { starts: true, sampled: tracing?.sample ?? 1, otlp: tracing?.otlp };
}

function compileLedger(ledger: GatewayFile['ledger']): Settings['ledger'] {
  if (ledger === 'off') return undefined;
  return { keepDays: ledger?.keep ?? wholeLedger.parse(LEDGER_DEFAULTS).keep };
}

function guardLimit(guard: Rate | 'off' | undefined): Limit | undefined {
  if (guard === undefined || guard === 'off') return undefined;
  return { name: 'guard', ...guard, burst: guard.units };
}

/** Undefined if neither mail nor webhooks are configured. */
function compileNotify(notify: GatewayFile['notify']): NotifySettings | undefined {
  if (notify === undefined) return undefined;
  const { email, webhooks, before_sunset: steps = beforeSunset.parse([...BEFORE_SUNSET_DEFAULT]) } = notify;
  const smtp = email === undefined || email.smtp === 'none' ? undefined : email.smtp;
  if (smtp === undefined && webhooks?.intake === undefined) return undefined;
  return {
    email: email && smtp && { smtp, from: email.from },
    intake: webhooks?.intake,
    daysBefore: [...new Set(steps)].sort((one, other) => other - one),
  };
}
