// The text that a started gateway prints: listeners, store, certificate, clock, commands to try.

import type { Address, PlainMode, StoreSettings } from '../../plan/settings.ts';
import { withoutLogin } from '../../stores/redis-address.ts';

export interface GatewayFacts {
  /** Bound addresses: with the real port for a configured port 0. */
  readonly listeners: {
    readonly https: { readonly address: Address } | undefined;
    readonly http: { readonly address: Address; readonly mode: PlainMode } | undefined;
    readonly admin: { readonly address: Address } | undefined;
    readonly metrics: { readonly address: Address } | undefined;
  };
  readonly store: StoreSettings;
  /** APIs that are quarantined or left out. */
  readonly refused: readonly string[];
  readonly workers: number;
  /** SHA-256 of the certificate, as `AB:CD:…`. Undefined without TLS. */
  readonly fingerprint: string | undefined;
  /** The date of a moved lifecycle clock, as `2026-11-20`. Undefined if the clock shows the real time. */
  readonly lifecycleClock: string | undefined;
}

export interface BannerInfo extends GatewayFacts {
  /** Set by `run`: the process that takes signals. */
  readonly pid?: number;
  /** Set by the demo: adds the sample services and the curl lines. */
  readonly trial?: {
    readonly samples: readonly { readonly name: string; readonly url: string; readonly pid: number }[];
    readonly tokenCommand: string;
    /** The log goes to this file, so that the banner stays visible. */
    readonly logFile: string;
  };
}

const PLAIN: Readonly<Record<PlainMode, string>> = {
  reject: 'answers 400',
  redirect: 'redirects to https',
  serve: 'served',
};

/** Ends with a line feed. Omits user and password of a Redis URL. */
export function renderBanner(info: BannerInfo): string {
  const { https, http, admin, metrics } = info.listeners;
  const rows: [string, string | undefined, string?][] = [
    ['gateway', https && origin('https', https.address)],
    ['plain http', http && origin('http', http.address), PLAIN[http?.mode ?? 'reject']],
    ['admin', admin && origin('http', admin.address), '/dashboard/  /metrics  /-/healthy  /-/ready'],
    ['metrics', metrics && origin('http', metrics.address), '/metrics  /-/healthy  /-/ready'],
    ['pid', info.pid?.toString(), 'SIGHUP reloads the policies, SIGTERM drains and ends'],
    ['store', describeStore(info.store)],
    ['refused', info.refused.length === 0 ? undefined : info.refused.join(', ')],
    ['workers', info.workers === 1 ? undefined : `${info.workers} processes`],
    ['certificate', info.fingerprint && `SHA-256 ${info.fingerprint}`],
    ['log', info.trial?.logFile],
    ['clock', info.lifecycleClock && `${info.lifecycleClock}, moved for lifecycle rules only`],
  ];
  const lines = ['', 'Sundial is running.', '', ...rows.flatMap(renderRow)];
  if (info.trial !== undefined) {
    lines.push('', 'Sample services (`kill <pid>` stops one; its API then answers 502)', '');
    lines.push(...info.trial.samples.flatMap(({ name, url, pid }) => renderRow([name, url, `pid ${pid}`])));
    lines.push(...renderCurls(info, info.trial.tokenCommand), '', 'Ctrl-C stops everything.');
  }
  return `${lines.join('\n')}\n\n`;
}

function describeStore(store: StoreSettings): string {
  switch (store.kind) {
    case 'embedded':
      return `embedded, in ${store.folder}`;
    case 'redis':
      return `redis, at ${withoutLogin(store.url)}`;
    default:
      return store satisfies never;
  }
}

function renderRow([name, value, note]: [string, string | undefined, string?]): readonly string[] {
  if (value === undefined) return [];
  return [`  ${name.padEnd(13)}${note === undefined ? value : `${value.padEnd(27)}${note}`}`];
}

function renderCurls({ listeners: { https, http } }: GatewayFacts, tokenCommand: string): readonly string[] {
  const served = http?.mode === 'serve' ? origin('http', http.address) : undefined;
  const base = https === undefined ? served : origin('https', https.address);
  if (base === undefined) return [];
  const curl = https === undefined ? 'curl -i' : 'curl -k -i';
  return [
    '',
    'Try in another terminal',
    '',
    '  # deprecated: answered, with its dates and its successor',
    `  ${curl} -H "Authorization: Bearer $(${tokenCommand})" ${base}/api/v1/orders`,
    '  # retired, with a successor: redirected, query kept',
    `  ${curl} '${base}/api/v0/orders?x=1&x=2'`,
    '  # retired, without: gone',
    `  ${curl} ${base}/api/v1/catalog`,
    '  # current and public: needs no token',
    `  ${curl} ${base}/api/v2/catalog`,
  ];
}

// A listener on every interface is shown with the loopback address.
function origin(scheme: 'http' | 'https', { host, port }: Address): string {
  const name = host === undefined || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
