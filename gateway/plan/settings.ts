// Types of the settings: `config/gateway.yaml` compiled.
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
    /** Metrics and health only, without a token. */
    readonly metrics: { readonly address: Address } | undefined;
  };
  readonly trustedProxies: readonly string[];
  /** Whether upstreams get `Forwarded` (RFC 7239) as well as X-Forwarded-*. */
  readonly sendsForwarded: boolean;
  readonly store: StoreSettings;
  /** Timeout of a store in another process, per request. */
  readonly storeTimeoutMs: number;
  /** Gateways that share the limits. The local fallback divides the rates by this number. */
  readonly replicas: number;
  /** `auto`: one process per processor. */
  readonly workers: number | 'auto';
  readonly identities: readonly IdentitySettings[];
  /** Absolute. For files made at first start, such as the certificate. */
  readonly dataFolder: string;
  /** Absolute glob patterns. */
  readonly policies: readonly string[];
  readonly bounds: Bounds;
  /** Undefined: no load shedding. */
  readonly overload: Overload | undefined;
  readonly drain: DrainTimes;
  /** Days, today included. Undefined: no calls are recorded. */
  readonly ledger: { readonly keepDays: number } | undefined;
  /** Undefined: no notices are sent. */
  readonly notify: NotifySettings | undefined;
  /** URL of the deliveries in the webhooks service, without a trailing slash. Undefined: not queried. */
  readonly webhookDeliveries: string | undefined;
  /** Limit per client address. */
  readonly guard: Limit | undefined;
  /** At the start; an operator may change it. */
  readonly logLevel: LogLevel;
  readonly accessLog: AccessLogSettings;
  readonly tracing: TracingSettings;
  readonly credentialsInUrl: readonly string[];
  readonly deprecationForm: DeprecationForm;
  readonly start: StartMode;
  /** Default of the path options for policy files. */
  readonly paths: PathsFile | undefined;
  /** Digest (hex) of `gateway.yaml`. A reload that finds another digest reports that a restart is needed. */
  readonly revision: string;
}

/**
 * For APIs with a refused file: `accepted` serves their last accepted form, `partial` leaves them out, `strict`
 * exits.
 */
export type StartMode = 'accepted' | 'partial' | 'strict';

export interface NotifySettings {
  /** Undefined: no mail is sent. */
  readonly email: { readonly smtp: SmtpServer; readonly from: string } | undefined;
  /** URL that events are posted to. Undefined: none are sent. */
  readonly intake: string | undefined;
  /** Days before a sunset on which notices are due, longest first. */
  readonly daysBefore: readonly number[];
}

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first octet (`smtps`). Otherwise STARTTLS if the server offers it; required before a password. */
  readonly tls: boolean;
  /** Never printed. */
  readonly credentials: { readonly user: string; readonly pass: string } | undefined;
}

/** The requests that get an access line, and its fields. */
export interface AccessLogSettings {
  readonly fields: 'all' | readonly AccessField[];
  /** The share of successes that have one, from 0 to 1. */
  readonly sampled: number;
  /** Paths whose successful requests get no access line. A final `*` matches any rest. */
  readonly excluded: readonly string[];
}

/** Traces for requests without a trace context. */
export interface TracingSettings {
  readonly starts: boolean;
  /** Share marked as recorded, from 0 to 1. */
  readonly sampled: number;
  /** URL to which spans are exported; undefined: none are, unless an SDK in the process does. */
  readonly otlp?: string | undefined;
}

export type { Address };

/** What the plain listener does with a request (TLS-5). */
export type PlainMode = 'reject' | 'redirect' | 'serve';

export interface AdminSettings {
  readonly address: Address;
  /** Bearer token of writes. Undefined: the one in the data folder. Never printed. */
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
  /** Max-age of Strict-Transport-Security. Undefined: not sent. */
  readonly hstsSeconds: number | undefined;
  /** Absolute paths of PEM files. Empty: a self-signed pair is made in the data folder at first start. */
  readonly certificates: readonly {
    readonly names: readonly string[];
    readonly cert: string;
    readonly key: string;
  }[];
  /** A name of the certificate for clients without SNI. Undefined: the first certificate. */
  readonly defaultName: string | undefined;
  /** Whether the handshake fails for clients without SNI. */
  readonly refusesNameless: boolean;
  /** Undefined: client certificates are not requested. */
  readonly clientCertificates: ClientCertificates | undefined;
}

export interface ClientCertificates {
  /** Absolute path of the PEM file of trusted authorities. */
  readonly ca: string;
  /** Whether the handshake fails without a valid client certificate. */
  readonly required: boolean;
}

export type StoreSettings =
  | { readonly kind: 'embedded'; readonly folder: string }
  /** May hold a password, so it is never printed. */
  | { readonly kind: 'redis'; readonly url: string };

export type IdentitySettings = TokenIdentity | KeysIdentity | CertificateIdentity;

/** API keys from the store. */
export interface KeysIdentity {
  readonly kind: 'keys';
  readonly name: string;
  /** Request header of the key, as written. */
  readonly header: string;
}

/** The client certificate of the connection. Connections of a proxy do not count. */
export interface CertificateIdentity {
  readonly kind: 'certificate';
  readonly name: string;
  /** The part of the certificate that names the consumer. */
  readonly consumer: CertificatePlace;
  /** Scopes of every holder, since a certificate has none. */
  readonly scopes: readonly string[];
  readonly prefixes?: IdPrefixes;
}

export type TokenIdentity = JwtIdentity | IntrospectionIdentity;

/** Access tokens of one issuer, checked with its keys. */
export interface JwtIdentity {
  readonly kind: 'jwt';
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
  readonly algorithms: readonly string[];
  /** Claims tried in order for the consumer's id. */
  readonly consumerClaims: readonly string[];
  /** Undefined if no identity has a prefix. */
  readonly prefixes?: IdPrefixes;
  /** Claims that must be non-empty strings, besides `sub`. */
  readonly requiredClaims?: readonly string[];
  /** Longest time from `iat` to `exp`. */
  readonly maxLifetimeSeconds: number;
  /** Accepted `typ` values, lower case, without `application/`. `none`: a token may have no `typ`. */
  readonly tokenTypes: readonly string[];
  /** 0: no cache. */
  readonly tokenCacheMs: number;
}

/** Opaque tokens, checked by introspection (RFC 7662). */
export interface IntrospectionIdentity {
  readonly kind: 'introspection';
  readonly name: string;
  readonly endpoint: string;
  /** Credentials of the gateway. The secret is never printed. */
  readonly client: { readonly id: string; readonly secret: string };
  /** Undefined: every issuer is accepted. */
  readonly issuer: string | undefined;
  /** Undefined: every audience is accepted. */
  readonly audience: string | undefined;
  readonly consumerClaims: readonly string[];
  readonly prefixes?: IdPrefixes;
  /** 0: no cache. */
  readonly tokenCacheMs: number;
}
