// State of the running process: stores, reloads, certificates, admin writes, open WebSockets.
import type { TunnelService } from '../../exchange/tunnel-service.ts';
import type { Quarantined } from '../../plan/reload/settle.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { createLatency, type Latency } from '../latency.ts';
import {
  counter,
  gauge,
  histogram,
  type LatencySample,
  type MetricRow,
  type Sample,
  single,
} from '../series.ts';

export type ReloadResult = 'success' | 'failure';

export interface ProcessState {
  /** `store`: the kind, not an address. */
  readonly storeUp: (store: string, up: boolean) => void;
  /** `milliseconds`: from reading the files to the result. */
  readonly reload: (result: ReloadResult, milliseconds: number) => void;
  /** Replaces the set of APIs whose policy files are refused. */
  readonly quarantine: (refused: readonly Pick<Quarantined, 'api' | 'isServed'>[]) => void;
  /** `sni`: the name of the certificate. `expiry`: its notAfter. */
  readonly certificate: (sni: string, expiry: EpochMs) => void;
  /** Whether the current content of all certificate files is in use. */
  readonly certificatesCurrent: (current: boolean) => void;
  /** Both arguments are from closed sets. */
  readonly adminWrite: (action: string, outcome: string) => void;
  /** `open`: called at a scrape, returns an item per open WebSocket. */
  readonly countWebsockets: (open: () => Iterable<TunnelService>) => void;
  /** `serving`: the number of processes that serve requests. Without this call: 1. */
  readonly countWorkers: (serving: () => number) => void;
  readonly watchRestart: (isNeeded: () => boolean) => void;
  readonly stores: () => Iterable<Sample>;
  /** False while a shared store is unavailable. */
  readonly areLimitsShared: () => boolean;
  readonly reloads: () => Iterable<Sample>;
  readonly reloadDurations: () => Iterable<LatencySample>;
  readonly lastReloadSuccessful: () => boolean;
  /** The last time that the policy files were valid, changed or not. */
  readonly lastReloadSuccess: () => EpochMs;
  readonly quarantined: () => Iterable<Sample>;
  readonly certificates: () => Iterable<Sample>;
  readonly areCertificatesCurrent: () => boolean;
  readonly adminWrites: () => Iterable<Sample>;
  readonly websockets: () => Iterable<Sample>;
  readonly workers: () => number;
  readonly needsRestart: () => boolean;
  readonly build: () => Iterable<Sample>;
}

/** Starts in the state after a successful load, because a gateway without a plan does not run. */
export function createProcessState(wallClock: () => EpochMs, version?: string): ProcessState {
  const stores = new Map<string, boolean>();
  const certificates = new Map<string, EpochMs>();
  const writes = new Map<string, Map<string, number>>();
  const reloads: Record<ReloadResult, number> = { success: 0, failure: 0 };
  const durations: Record<ReloadResult, Latency> = { success: createLatency(), failure: createLatency() };
  let successful = true;
  let certificatesCurrent = true;
  const quarantined = new Map<string, number>();
  let lastSuccess = wallClock();
  let openWebsockets: () => Iterable<TunnelService> = () => [];
  const websockets = new Map<string, Map<string, number>>();
  let servingWorkers = () => 1;
  let isRestartNeeded = () => false;
  return {
    storeUp: (store, up) => void stores.set(store, up),
    reload: (result, milliseconds) => {
      reloads[result] += 1;
      durations[result].observe(milliseconds);
      successful = result === 'success';
      if (successful) lastSuccess = wallClock();
    },
    quarantine: (refused) => {
      // A 0 ends an alert. Without the series, the alert would stay open until the series is stale.
      for (const api of quarantined.keys()) quarantined.set(api, 0);
      for (const { api, isServed } of refused) quarantined.set(api, isServed ? 1 : 2);
    },
    certificate: (sni, expiry) => void certificates.set(sni, expiry),
    certificatesCurrent: (current) => {
      certificatesCurrent = current;
    },
    adminWrite: (action, outcome) => {
      const counts = writes.get(action) ?? new Map<string, number>();
      writes.set(action, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    },
    countWebsockets: (open) => {
      openWebsockets = open;
    },
    countWorkers: (serving) => {
      servingWorkers = serving;
    },
    watchRestart: (isNeeded) => {
      isRestartNeeded = isNeeded;
    },
    needsRestart: () => isRestartNeeded(),
    build: () => (version === undefined ? [] : [[[version], 1]]),
    stores: () => stores.entries().map(([store, up]) => [[store], up ? 1 : 0]),
    areLimitsShared: () => stores.get('redis') !== false,
    reloads: () => Object.entries(reloads).map(([result, count]) => [[result], count]),
    reloadDurations: () => Object.entries(durations).map(([result, latency]) => [[result], latency]),
    lastReloadSuccessful: () => successful && quarantined.values().every((value) => value === 0),
    lastReloadSuccess: () => lastSuccess,
    quarantined: () => quarantined.entries().map(([api, value]): Sample => [[api], value]),
    certificates: () => certificates.entries().map(([sni, expiry]) => [[sni], expiry / 1000]),
    areCertificatesCurrent: () => certificatesCurrent,
    adminWrites: () => samplesOf(writes),
    workers: () => servingWorkers(),
    websockets: () => {
      // Versions that had WebSockets report 0. A missing series would look like a gateway that did not answer.
      for (const versions of websockets.values())
        for (const version of versions.keys()) versions.set(version, 0);
      for (const { api, version } of openWebsockets()) {
        const versions = websockets.get(api) ?? new Map<string, number>();
        websockets.set(api, versions.set(version, (versions.get(version) ?? 0) + 1));
      }
      return samplesOf(websockets);
    },
  };
}

function samplesOf(counts: ReadonlyMap<string, ReadonlyMap<string, number>>): Iterable<Sample> {
  return counts
    .entries()
    .flatMap(([first, inner]) => inner.entries().map(([second, count]): Sample => [[first, second], count]));
}

export function certificateRows(state: ProcessState): readonly MetricRow[] {
  return [
    gauge(
      'sundial_tls_certificate_expiry_timestamp_seconds',
      'Time at which a certificate expires.',
      ['sni'],
      state.certificates,
      'primary',
    ),
    gauge(
      'sundial_tls_certificates_current',
      'Whether the gateway uses the present content of the certificate files: 1 or 0.',
      [],
      () => single(state.areCertificatesCurrent() ? 1 : 0),
      'primary',
    ),
  ];
}

export function reloadRows(state: ProcessState, revision: () => string): readonly MetricRow[] {
  return [
    counter('sundial_config_reloads_total', 'Reloads of the policy files.', ['result'], state.reloads),
    histogram(
      'sundial_config_reload_duration_seconds',
      'Time from reading the policy files until all workers use the new plan, or until the refusal.',
      ['result'],
      state.reloadDurations,
    ),
    gauge(
      'sundial_config_last_reload_successful',
      'Whether the gateway uses the present content of the policy files: 1 or 0.',
      [],
      () => single(state.lastReloadSuccessful() ? 1 : 0),
      'primary',
    ),
    gauge(
      'sundial_config_last_reload_success_timestamp_seconds',
      'Time of the last reload that succeeded, including reloads without a change.',
      [],
      () => single(state.lastReloadSuccess() / 1000),
      'primary',
    ),
    gauge(
      'sundial_policy_quarantined',
      'Refused policy files. 1: last accepted form served. 2: API left out. 0: accepted again.',
      ['api'],
      state.quarantined,
      'primary',
    ),
    gauge(
      'sundial_config_restart_needed',
      'Whether the gateway file has changed since the start, so that a restart is needed: 1 or 0.',
      [],
      () => single(state.needsRestart() ? 1 : 0),
      'primary',
    ),
    gauge('sundial_build_info', 'The version of Sundial. Always 1.', ['version'], state.build, 'primary'),
    gauge(
      'sundial_config_info',
      'The revision of the plan in use. Always 1.',
      ['hash'],
      () => [[[revision()], 1]],
      'primary',
    ),
  ];
}
