// The certificates of the public face, kept current: renewed files and new hosts are taken over while it runs (TLS-7).
import { stat } from 'node:fs/promises';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Settings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { CertificateReport } from '../telemetry/reports/certificate-report.ts';
import { type Certificates, certificatesOf, type KeyPair, loadClients, loadPair } from './certificates.ts';
import { RENEW_BEFORE_MS, selfSignedFiles, selfSignedPair } from './self-signed.ts';

export interface PublicCertificates {
  readonly current: () => Certificates;
  /** `take` is called with every later change, which counts as in force once it has resolved. It must not reject. */
  readonly onChange: (listener: (certificates: Certificates) => Promise<void> | void) => void;
  /** Reads the files now; resolves when what can be used of them is in force. Never rejects. */
  readonly reload: () => Promise<void>;
  /** The hosts a new plan serves: the self-signed pair is made for them too. Never rejects. */
  readonly follow: (plan: GatewayPlan) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface CertificateOptions {
  readonly now: () => EpochMs;
  readonly report: CertificateReport;
  readonly checkEveryMs?: number;
}

/**
 * A look asks for no more than the files' stamps. It sees what a watch of the files would miss: links that are swapped
 * two folders above, as for mounted secrets, and folders on another machine.
 */
const CHECK_EVERY_MS = 5_000;

/** Undefined without an https listener. Rejects when a configured pair cannot be used. */
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
      : // What proves clients is taken over with the pairs that it is asked for with.
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
  /** One look at a time, so that none takes back what a later one has found. */
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
      report.onState(sources.every((source) => !source.isBehind()));
    });
    return last;
  };
  const isDue = async (source: PairSource): Promise<boolean> =>
    (await source.wasTouched()) || (isSelfSigned && source.pair().expiry <= now() + RENEW_BEFORE_MS);
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

/** One key pair with where it comes from: the last usable state of its files. */
interface PairSource {
  readonly pair: () => KeyPair;
  /** Reads the files, and says whether they hold another pair. Rejects when they hold none; the one before stays. */
  readonly read: () => Promise<boolean>;
  /** Whether the files are no longer those that were last read, usable or not. */
  readonly wasTouched: () => Promise<boolean>;
  readonly isBehind: () => boolean;
}

/** Reads once. Rejects as `load` does. */
async function openPairSource(files: readonly string[], load: () => Promise<KeyPair>): Promise<PairSource> {
  // Taken before the files are read: what is written meanwhile shows in the next one.
  let stamp = await stampOf(files);
  let pair = await load();
  let behind = false;
  return {
    pair: () => pair,
    isBehind: () => behind,
    wasTouched: async () => (await stampOf(files)) !== stamp,
    read: async () => {
      stamp = await stampOf(files);
      behind = true;
      const next = await load();
      behind = false;
      const isOther =
        next.cert !== pair.cert ||
        next.key !== pair.key ||
        next.clients?.authorities !== pair.clients?.authorities;
      pair = next;
      return isOther;
    },
  };
}

/** Changes with whatever is done to the files behind the links, and with what the links lead to. */
async function stampOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(stampOfOne))).join(' ');
}

async function stampOfOne(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    // Gone, or not to be seen: reading it says why.
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
