// Requests by version and stage since this gateway started, and which part of them asked for what is deprecated.

/** What has been counted, by the name of the metric. */
export interface Readings {
  readonly read: (name: string) => Promise<readonly Reading[]>;
}

export interface Reading {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** Requests that were for no version have no stage. */
const NONE = 'none';

export async function trafficBody(metrics: Readings) {
  const requests = await metrics.read('sundial_requests_total');
  const last = await metrics.read('sundial_version_last_request_timestamp_seconds');
  const versions = Map.groupBy(
    requests.filter(({ labels }) => text(labels.stage) !== NONE),
    ({ labels }) => JSON.stringify([text(labels.api), text(labels.version)]),
  );
  const each = [...versions.values()].map((counts) => {
    const api = text(counts[0]?.labels.api);
    const version = text(counts[0]?.labels.version);
    const lastAt = last.find(({ labels }) => labels.api === api && labels.version === version)?.value;
    return {
      api,
      version,
      requests: sumOf(counts),
      deprecated: sumOf(counts.filter(({ labels }) => labels.stage === 'deprecated')),
      errors: sumOf(counts.filter(({ labels }) => text(labels.code).startsWith('5'))),
      /** Seconds since 1970, by the real clock. */
      lastRequest: lastAt ?? null,
    };
  });
  const total = each.reduce((sum, { requests }) => sum + requests, 0);
  const deprecated = each.reduce((sum, version) => sum + version.deprecated, 0);
  /** Null before the first request. */
  const share = total === 0 ? null : deprecated / total;
  return { requests: total, deprecated, share, unresolved: sumOf(requests) - total, versions: each };
}

export function sumOf(readings: readonly Reading[]): number {
  return readings.reduce((sum, { value }) => sum + value, 0);
}

function text(label: string | number | undefined): string {
  return String(label ?? NONE);
}
