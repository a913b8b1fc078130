// Reads and checks the certificates and keys of an upstream's `tls`, and replaces their paths.
import { dirname, resolve } from 'node:path';
import { readAuthorities } from '../../plan/read/authorities.ts';
import type { Path } from '../../plan/read/document.ts';
import type { ReadFile } from '../../plan/read/files.ts';
import { pairWarnings, readPair } from '../../plan/read/key-pair.ts';
import type { PolicyFile, UpstreamFile } from '../policy-file.ts';
import type { PolicyView, Report } from '../view.ts';

type TlsSection = NonNullable<UpstreamFile['tls']>;

export interface TlsContext {
  /** Absolute path of the policy file. */
  readonly policyFile: string;
  readonly now: number;
  readonly readFile: ReadFile;
}

export interface UpstreamTlsFiles {
  /** By upstream, with PEM texts in place of paths. */
  readonly tls: ReadonlyMap<string, TlsSection>;
  /** Absolute paths, including those of unreadable files. */
  readonly files: readonly string[];
}

export async function readUpstreamTls(
  { parts, upstreamNames }: PolicyView,
  report: Report,
  context: TlsContext,
): Promise<UpstreamTlsFiles> {
  const read = new Map<string, TlsSection>();
  const files: string[] = [];
  for (const name of upstreamNames) {
    const upstream = parts.upstreams?.[name];
    const { tls, targets = [] } = upstream ?? {};
    if (tls === undefined) continue;
    const at: Path = ['upstreams', name, 'tls'];
    if (targets.length > 0 && !targets.some((target) => target.startsWith('https:'))) {
      const message = 'tls has no effect: a target begins with http:';
      report(at, { rule: 'tls', severity: 'warning', message, at: 'key' });
    }
    const { ca, cert, key } = absolute(tls, context);
    files.push(...[ca, cert, key].filter((file) => file !== undefined));
    const texts = {
      ca: await authoritiesOf(ca, at, report, context),
      ...(await readClientPair({ cert, key }, at, report, context)),
    };
    read.set(name, { ...tls, ...texts });
  }
  return { tls: read, files };
}

export function withTlsTexts(file: PolicyFile, tls: UpstreamTlsFiles['tls']): PolicyFile {
  if (tls.size === 0 || file.upstreams === undefined) return file;
  const upstreams = Object.entries(file.upstreams).map(([name, upstream]) => {
    const own = tls.get(name);
    return [name, own === undefined ? upstream : { ...upstream, tls: own }] as const;
  });
  return { ...file, upstreams: Object.fromEntries(upstreams) };
}

function absolute(
  { ca, cert, key }: Pick<TlsSection, 'ca' | 'cert' | 'key'>,
  { policyFile }: TlsContext,
): Pick<TlsSection, 'ca' | 'cert' | 'key'> {
  const path = (file: string | undefined) => file && resolve(dirname(policyFile), file);
  return { ca: path(ca), cert: path(cert), key: path(key) };
}

async function authoritiesOf(
  file: string | undefined,
  at: Path,
  report: Report,
  { readFile }: TlsContext,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const read = await readAuthorities(file, readFile);
  if (read.kind === 'read') return read.pem;
  report([...at, 'ca'], { rule: 'tls', ...read.finding });
  return undefined;
}

async function readClientPair(
  { cert, key }: Pick<TlsSection, 'cert' | 'key'>,
  at: Path,
  report: Report,
  { readFile, now }: TlsContext,
): Promise<Pick<TlsSection, 'cert' | 'key'>> {
  if (cert === undefined && key === undefined) return { cert, key };
  if (cert === undefined || key === undefined) {
    const [written, missing] = cert === undefined ? ['key', 'cert'] : ['cert', 'key'];
    report([...at, written], { rule: 'tls', message: `${written} needs ${missing} beside it`, at: 'key' });
    return { cert: undefined, key: undefined };
  }
  const files = { names: [], cert, key };
  const pair = await readPair(files, readFile);
  const findings = pair.kind === 'read' ? await pairWarnings(files, pair, now) : [pair.finding];
  for (const { at: where, hint, ...finding } of findings)
    report([...at, where], { rule: 'tls', ...finding, hint: hint?.replace('clients', 'upstreams') });
  return pair.kind === 'read' ? { cert: pair.cert, key: pair.key } : { cert: undefined, key: undefined };
}
