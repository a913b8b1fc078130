// `config/gateway.yaml` to Settings: defaults filled in, paths made absolute.
// The file has passed every check.
import { dirname, resolve } from 'node:path';
import type { Rate } from '../../policy/notation.ts';
import type { Limit } from '../../policy/rate-limit/limit.ts';
import type { GatewayFile, WrittenStore } from '../grammar/gateway-grammar.ts';
import { WRITTEN_LEDGER, wholeLedger } from '../grammar/ledger-section.ts';
import { NO_DEFAULT } from '../grammar/listeners-section.ts';
import type { IdentitySettings, Settings, StoreSettings } from '../settings.ts';
import { compileBounds, compileDrain, compileOverload } from './bounds.ts';

const DEFAULT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
const DEFAULT_CONSUMER = ['client_id', 'azp', 'sub'] as const;
const HOUR_MS = 3_600_000;

export interface Places {
  /** Absolute path of the gateway file; paths of files in it are relative to its folder. */
  readonly configFile: string;
  /** What the folders of the running process are relative to: `data` and the embedded store. */
  readonly cwd: string;
  /** Digest of the gateway file. */
  readonly revision: string;
}

export function compileSettings(file: GatewayFile, places: Places): Settings {
  const beside = (path: string) => resolve(dirname(places.configFile), path);
  const dataFolder = resolve(places.cwd, file.data ?? './data');
  const { https, http, admin, metrics } = file.listeners;
  return {
    public: file.public,
    listeners: {
      https: https && {
        address: https.address,
        hstsSeconds: https.hsts === undefined ? undefined : Math.floor(https.hsts / 1_000),
        certificates: (https.tls?.certificates ?? []).map(({ names, cert, key }) => ({
          names,
          cert: beside(cert),
          key: beside(key),
        })),
        defaultName: https.tls?.default === NO_DEFAULT ? undefined : https.tls?.default,
        refusesNameless: https.tls?.default === NO_DEFAULT,
      },
      http: http && { address: http.address, mode: http.mode ?? 'reject' },
      admin: admin && { address: admin.address, token: admin.token },
      metrics: metrics && { address: metrics.address },
    },
    trustedProxies: file.trusted_proxies ?? [],
    sendsForwarded: file.forwarded === 'rfc7239',
    store: compileStore(file.store, dataFolder, places.cwd),
    replicas: file.replicas ?? 1,
    workers: file.workers ?? 1,
    identities: Object.entries(file.identity ?? {}).map(([name, identity]) =>
      compileIdentity(name, identity),
    ),
    dataFolder,
    policies: [beside(file.policies)],
    bounds: compileBounds(file),
    overload: compileOverload(file),
    drain: compileDrain(file),
    ledger: compileLedger(file.ledger),
    guard: guardLimit(file.guard),
    credentialsInUrl: file.credentials_in_url ?? [],
    deprecationForm: file.deprecation_header ?? 'rfc9745',
    revision: places.revision,
  };
}

function compileStore(store: WrittenStore | undefined, dataFolder: string, cwd: string): StoreSettings {
  if (store === undefined || store.kind === 'data-folder') return { kind: 'embedded', folder: dataFolder };
  return store.kind === 'embedded' ? { kind: 'embedded', folder: resolve(cwd, store.folder) } : store;
}

function compileIdentity(name: string, file: NonNullable<GatewayFile['identity']>[string]): IdentitySettings {
  return {
    kind: 'jwt',
    name,
    issuer: file.issuer,
    audience: file.audience,
    jwksUrl: file.jwks ?? `${file.issuer.replace(/\/$/, '')}/.well-known/jwks.json`,
    algorithms: file.algorithms ?? DEFAULT_ALGORITHMS,
    consumerClaims: file.consumer ?? DEFAULT_CONSUMER,
    maxLifetimeSeconds: Math.floor((file.max_lifetime ?? HOUR_MS) / 1_000),
    // RFC 9068 section 4: nothing but an access token passes for one (JWT-5).
    tokenTypes: (file.types ?? ['at+jwt']).map((type) => type.toLowerCase().replace(/^application\//, '')),
  };
}

function compileLedger(ledger: GatewayFile['ledger']): Settings['ledger'] {
  if (ledger === 'off') return undefined;
  return { keepDays: ledger?.keep ?? wholeLedger.parse(WRITTEN_LEDGER).keep };
}

function guardLimit(guard: Rate | 'off' | undefined): Limit | undefined {
  if (guard === undefined || guard === 'off') return undefined;
  return { name: 'guard', ...guard, burst: guard.units };
}
