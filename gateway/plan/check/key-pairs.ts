// Cross checks of the certificates in `config/gateway.yaml`: each name in one of them, and every pair usable for its names.
// Called where the gateway file is read, since it looks into the files named there.
import { dirname, resolve } from 'node:path';
import type { EpochMs } from '../../policy/contract.ts';
import { NO_DEFAULT } from '../grammar/listeners-section.ts';
import type { ReadFile } from '../read/files.ts';
import { pairWarnings, readPair } from '../read/key-pair.ts';
import type { GatewayView, Report } from './views.ts';

export interface KeyPairContext {
  readonly configFile: string;
  readonly today: EpochMs;
  readonly readFile: ReadFile;
}

export async function checkKeyPairs(
  { parts }: GatewayView,
  report: Report,
  { configFile, today, readFile }: KeyPairContext,
): Promise<void> {
  const tls = parts.listeners?.https?.tls;
  if (tls === undefined) return;
  const at = ['listeners', 'https', 'tls'];
  const named = new Set<string>();
  for (const [index, { names, cert, key }] of tls.certificates.entries()) {
    const place = [...at, 'certificates', index];
    for (const [position, name] of names.entries()) {
      if (named.has(name))
        report([...place, 'names', position], {
          rule: 'certificate',
          message: 'another certificate has this name',
        });
      named.add(name);
    }
    const folder = dirname(configFile);
    const files = { names, cert: resolve(folder, cert), key: resolve(folder, key) };
    const read = await readPair(files, readFile);
    const findings = read.kind === 'read' ? await pairWarnings(files, read, today) : [read.finding];
    for (const { at: where, ...finding } of findings)
      report([...place, where], { rule: 'certificate', ...finding });
  }
  checkPublic(parts, named, report);
  if (tls.default !== undefined && tls.default !== NO_DEFAULT && !named.has(tls.default))
    report([...at, 'default'], { rule: 'reference', message: 'no certificate has this name' });
}

/** TLS-4: a name that no certificate is for ends the handshake, an address is 421, but for trusted proxies. */
function checkPublic(
  { public: origin, trusted_proxies }: GatewayView['parts'],
  named: ReadonlySet<string>,
  report: Report,
): void {
  if (origin === undefined || !origin.startsWith('https:') || (trusted_proxies ?? []).length > 0) return;
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '');
  if (named.has(host) || named.has(host.replace(/^[^.]+/, '*'))) return;
  report(['public'], {
    rule: 'certificate',
    severity: 'warning',
    message: `no certificate is for ${host}: no client gets through to it`,
    hint: 'add it to the names of one that is for it, or write one of their names here',
  });
}
