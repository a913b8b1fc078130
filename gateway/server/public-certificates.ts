// Keeps the certificates of the public listeners current: renewed files and new hosts apply without a restart (TLS-7).
import { stat } from 'node:fs/promises';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Settings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { CertificateReport } from '../telemetry/reports/certificate-report.ts';
import { type Certificates, certificatesOf, type KeyPair, loadClients, loadPair } from './certificates.ts';
import { RENEW_BEFORE_MS, selfSignedFiles, selfSignedPair } from './self-signed.ts';

export interface PublicCertificates {
  readonly current: () => Certificates;
  /** The listener runs after every change, and must not reject. The certificates are in force once it resolves. */
  readonly onChange: (listener: (certificates: Certificates) => Promise<void> | void) => void;
  /** Reads the files now. Resolves when all usable ones are in force. Never rejects. */
  readonly reload: () => Promise<void>;
  /** Adds the hosts of a new plan, for which the self-signed pair is renewed. Never rejects. */
  readonly follow: (plan: GatewayPlan) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface CertificateOptions {
  readonly now: () => EpochMs;
  readonly report: CertificateReport;
  readonly checkEveryMs?: number;
}

/**
 * Only file metadata is read. This detects changes that a file watcher misses: symbolic links replaced two folders
 * above, as with mounted secrets, and changes on network file systems.
 */
const CHECK_EVERY_MS = 5_000;

/** Undefined without an https listener. Rejects if a configured pair is unusable. */
export async function openCertificates(
  { listeners: { https }, public: origin, dataFolder }: Pick<Settings, 'listeners' | 'public' | 'dataFolder'>,
  plan: GatewayPlan,
  { now, report, checkEveryMs = CHECK_EVERY_MS }: CertificateOptions,
): Promise<PublicCertificates | undefined> {
  if (https === undefined) return undefined;
  const hosts = new Set([new URL(origin).hostname]);
  const serve = (next: GatewayPlan): void => {
    for (const { hosts: own } of next.apis) for (const host of own) hosts.add(host);
  };
  serve(plan);
  const own = selfSignedFiles(dataFolder);
  const isSelfSigned = https.certificates.length === 0;
  const clients = https.clientCertificates;
  const open = (files: readonly string[], load: () => Promise<KeyPair>): Promise<PairSource> =>
    clients === undefined
      ? openPairSource(files, load)
      : // The authorities change together with the pairs.
        openPairSource([...files, clients.ca], async () => ({
          ...(await load()),
          clients: await loadClients(clients),
        }));
  const sources = isSelfSigned
    ? [await open([own.cert, own.key], () => selfSignedPair(dataFolder, [...hosts], now()))]
    : await Promise.all(
        https.certificates.map((files) => open([files.cert, files.key], () => loadPair(files))),
      );
  let current = certificatesOf(
    sources.map(({ pair }) => pair()),
    https,
  );
  report.onInForce(current.pairs);

  const listeners: ((certificates: Certificates) => Promise<void> | void)[] = [];
  let closed = false;
  /** Serialises the checks, so that none overwrites the result of a later one. */
  let last = Promise.resolve();
  const checkFiles = (isDue: (source: PairSource) => Promise<boolean>): Promise<void> => {
    last = last.then(async () => {
      const changed: PairSource[] = [];
      for (const source of sources) {
        if (closed) return;
        try {
          if ((await isDue(source)) && (await source.read())) changed.push(source);
        } catch (error) {
          report.onKept(source.pair().names, error);
        }
      }
      if (changed.length > 0) {
        current = certificatesOf(
          sources.map(({ pair }) => pair()),
          https,
        );
        await Promise.all(listeners.map((listener) => listener(current)));
        report.onTakenOver(changed.map(({ pair }) => pair()));
      }
      report.onState(sources.every((source) => !source.isOutdated()));
    });
    return last;
  };
  const isDue = async (source: PairSource): Promise<boolean> =>
    (await source.hasChanged()) || (isSelfSigned && source.pair().expiry <= now() + RENEW_BEFORE_MS);
  const timer = setInterval(() => void checkFiles(isDue), checkEveryMs).unref();
  const reload = (): Promise<void> => checkFiles(async () => true);
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    reload,
    follow: (next) => {
      serve(next);
      return isSelfSigned ? reload() : last;
    },
    close: () => {
      closed = true;
      clearInterval(timer);
      return last;
    },
  };
}

interface PairSource {
  readonly pair: () => KeyPair;
  /** Reads the files. True if they contain another pair. Rejects if they are unusable, and keeps the previous pair. */
  readonly read: () => Promise<boolean>;
  /** Whether the files changed since the last read, usable or not. */
  readonly hasChanged: () => Promise<boolean>;
  readonly isOutdated: () => boolean;
}

async function openPairSource(files: readonly string[], load: () => Promise<KeyPair>): Promise<PairSource> {
  // Before the files are read, so that a concurrent write changes the next stamp.
  let stamp = await stampOf(files);
  let pair = await load();
  let outdated = false;
  return {
    pair: () => pair,
    isOutdated: () => outdated,
    hasChanged: async () => (await stampOf(files)) !== stamp,
    read: async () => {
      stamp = await stampOf(files);
      outdated = true;
      const next = await load();
      outdated = false;
      const isOther =
        next.cert !== pair.cert ||
        next.key !== pair.key ||
        next.clients?.authorities !== pair.clients?.authorities;
      pair = next;
      return isOther;
    },
  };
}

/** Follows symbolic links and changes with any write to their target. */
async function stampOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(stampOfOne))).join(' ');
}

async function stampOfOne(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    // The file is missing or not accessible. Reading it gives the reason.
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
