// How the process runs: `config/gateway.yaml` compiled.
import type { CertificatePlace } from '../policy/authentication/consumer.ts';
import type { DeprecationForm } from '../policy/lifecycle/schedule.ts';
import type { IdPrefixes } from '../policy/notation.ts';
import type { Limit } from '../policy/rate-limit/limit.ts';
import type { PathsFile } from '../sections/routes/grammar.ts';
import type { Bounds, DrainTimes, Overload, PlaneName } from './bounds.ts';
import type { Address } from './grammar/addresses.ts';
import type { AccessField, LogLevel } from './grammar/logs-section.ts';

export interface Settings {
  readonly public: string;
  readonly listeners: {
    readonly https: HttpsSettings | undefined;
    readonly http: HttpSettings | undefined;
    readonly admin: AdminSettings | undefined;
    /** Metrics and health alone, without a token. */
    readonly metrics: { readonly address: Address } | undefined;
  };
  readonly trustedProxies: readonly string[];
  /** Whether upstreams get `Forwarded` (RFC 7239) besides X-Forwarded-*. */
  readonly sendsForwarded: boolean;
  readonly store: StoreSettings;
  /** The most that a store in another process may add to a request. */
  readonly storeTimeoutMs: number;
  /** Gateways that share the limits; the local fallback divides by it. */
  readonly replicas: number;
  /** Processes that answer requests; `auto`: one for each processor. */
  readonly workers: number | 'auto';
  readonly identities: readonly IdentitySettings[];
  /** Folder for what the process makes at first start (certificate). Absolute. */
  readonly dataFolder: string;
  /** Absolute globs of the policy files. */
  readonly policies: readonly string[];
  readonly bounds: Bounds;
  /** Undefined: nothing is refused for load. */
  readonly overload: Overload | undefined;
  readonly drain: DrainTimes;
  /** Days for which it is kept, today included; undefined: nobody's calls are recorded. */
  readonly ledger: { readonly keepDays: number } | undefined;
  /** Undefined: nobody is told. */
  readonly notify: NotifySettings | undefined;
  /** URL below which the webhooks service tells of its deliveries, without a last slash; undefined: nobody asks. */
  readonly webhookDeliveries: string | undefined;
  /** What every plan of this process takes from `gateway.yaml`. */
  readonly guard: Limit | undefined;
  /** At the start; an operator may change it. */
  readonly logLevel: LogLevel;
  readonly accessLog: AccessLogSettings;
  readonly tracing: TracingSettings;
  readonly credentialsInUrl: readonly string[];
  readonly deprecationForm: DeprecationForm;
  /** What a start does that refuses a policy file. */
  readonly start: StartMode;
  /** For policy files that do not say how their service reads paths. */
  readonly paths: PathsFile | undefined;
  /** Digest (hex) of `gateway.yaml`: a reload that finds another one asks for a restart. */
  readonly revision: string;
}

/**
 * `accepted`: serves the last accepted form of its API, and exits where an API has none. `partial`: leaves such an API
 * out. `strict`: exits.
 */
export type StartMode = 'accepted' | 'partial' | 'strict';

/** How those who call are told what becomes of a version. */
export interface NotifySettings {
  /** Undefined: no mail is sent. */
  readonly email: { readonly smtp: SmtpServer; readonly from: string } | undefined;
  /** URL to which events are posted; undefined: none are. */
  readonly intake: string | undefined;
  /** Steps of the countdown to a sunset, in days, the longest first. */
  readonly daysBefore: readonly number[];
}

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** From the first byte (`smtps`); else as the server offers it, and always before a password. */
  readonly tls: boolean;
  /** Never printed. */
  readonly credentials: { readonly user: string; readonly pass: string } | undefined;
}

/** Which requests have an access line, and what stands there. */
export interface AccessLogSettings {
  readonly fields: 'all' | readonly AccessField[];
  /** The share of successes that have one, from 0 to 1. */
  readonly sampled: number;
  /** Paths whose successes have none; `*` at the end stands for any rest. */
  readonly excluded: readonly string[];
}

/** Traces of requests that come without one. */
export interface TracingSettings {
  readonly starts: boolean;
  /** The share of them that is marked as recorded, from 0 to 1. */
  readonly sampled: number;
  /** URL to which spans are exported; undefined: none are, unless an SDK in the process does. */
  readonly otlp?: string | undefined;
}

export type { Address };

/** What the plain listener does with a request (TLS-5). */
export type PlainMode = 'reject' | 'redirect' | 'serve';

export interface AdminSettings {
  readonly address: Address;
  /** What writes need; undefined: the one in the data folder. Never printed. */
  readonly token: string | undefined;
}

export interface HttpSettings {
  readonly address: Address;
  readonly plane: PlaneName;
  readonly mode: PlainMode;
}

export interface HttpsSettings {
  readonly address: Address;
  readonly plane: PlaneName;
  /** Seconds for Strict-Transport-Security; undefined sends none. */
  readonly hstsSeconds: number | undefined;
  /** Absolute paths of PEM files; empty: a self-signed pair is made in the data folder at first start. */
  readonly certificates: readonly {
    readonly names: readonly string[];
    readonly cert: string;
    readonly key: string;
  }[];
  /** Of the certificate shown to clients that name no host; undefined: the first one. */
  readonly defaultName: string | undefined;
  /** Clients that name no host are shown none, which ends their handshake. */
  readonly refusesNameless: boolean;
  /** Undefined: no client is asked for one. */
  readonly clientCertificates: ClientCertificates | undefined;
}

export interface ClientCertificates {
  /** Absolute path of the PEM file of the authorities that prove them. */
  readonly ca: string;
  /** Whether a handshake without a proven one comes to nothing. */
  readonly required: boolean;
}

export type StoreSettings =
  | { readonly kind: 'embedded'; readonly folder: string }
  /** `url` may hold a password: it is never printed. */
  | { readonly kind: 'redis'; readonly url: string };

/** One way of knowing who calls. */
export type IdentitySettings = TokenIdentity | KeysIdentity | CertificateIdentity;

/** API keys of the store. */
export interface KeysIdentity {
  readonly kind: 'keys';
  readonly name: string;
  /** The header that carries one, as written. */
  readonly header: string;
}

/** The certificate of a connection that a client opened itself. */
export interface CertificateIdentity {
  readonly kind: 'certificate';
  readonly name: string;
  /** What of it is the consumer. */
  readonly consumer: CertificatePlace;
  /** What whoever holds one may do: a certificate says nothing of it. */
  readonly scopes: readonly string[];
  readonly prefixes?: IdPrefixes;
}

/** By an access token. */
export type TokenIdentity = JwtIdentity | IntrospectionIdentity;

/** An issuer whose access tokens are accepted. */
export interface JwtIdentity {
  readonly kind: 'jwt';
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
  readonly algorithms: readonly string[];
  /** Claims tried in order for the consumer's id. */
  readonly consumerClaims: readonly string[];
  /** Undefined where no identity of the gateway has one. */
  readonly prefixes?: IdPrefixes;
  /** Claims that must be texts and not empty, beyond `sub`. */
  readonly requiredClaims?: readonly string[];
  /** Seconds a token may live from iat to exp. */
  readonly maxLifetimeSeconds: number;
  /** Accepted `typ` values, lower case, without `application/`; `none`: a token may be without. */
  readonly tokenTypes: readonly string[];
  /** Milliseconds for which a verdict on a token is kept; 0: none is. */
  readonly tokenCacheMs: number;
}

/** A server that is asked about tokens which say nothing by themselves (RFC 7662). */
export interface IntrospectionIdentity {
  readonly kind: 'introspection';
  readonly name: string;
  readonly endpoint: string;
  /** The gateway's own; the secret is never printed. */
  readonly client: { readonly id: string; readonly secret: string };
  /** Undefined: whatever the answer says of it passes. */
  readonly issuer: string | undefined;
  /** The same. */
  readonly audience: string | undefined;
  /** Members of the answer tried in order for the consumer's id. */
  readonly consumerClaims: readonly string[];
  readonly prefixes?: IdPrefixes;
  /** Milliseconds for which an answer is kept; 0: none is. */
  readonly tokenCacheMs: number;
}
