// Checks the certificates of `config/gateway.yaml`: readable, valid, and no name in two of them.
import { dirname, resolve } from 'node:path';
import type { EpochMs } from '../../policy/contract.ts';
import { uncertified } from '../../sections/routes/check.ts';
import type { Report } from '../../sections/view.ts';
import { NO_DEFAULT } from '../grammar/listeners-section.ts';
import { readAuthorities } from '../read/authorities.ts';
import type { ReadFile } from '../read/files.ts';
import { pairWarnings, readPair } from '../read/key-pair.ts';
import { certifiedNames, type GatewayView } from './views.ts';

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
  checkPublic(parts, report);
  if (tls.client_certificates !== undefined) {
    const read = await readAuthorities(resolve(dirname(configFile), tls.client_certificates.ca), readFile);
    if (read.kind === 'unusable')
      report([...at, 'client_certificates', 'ca'], { rule: 'certificate', ...read.finding });
  }
  if (tls.default !== undefined && tls.default !== NO_DEFAULT && !named.has(tls.default))
    report([...at, 'default'], { rule: 'reference', message: 'no certificate has this name' });
}

function checkPublic(
  { public: origin, trusted_proxies, listeners }: GatewayView['parts'],
  report: Report,
): void {
  const certificates = listeners?.https?.tls?.certificates ?? [];
  const names = certifiedNames({ public: origin, trustedProxies: trusted_proxies ?? [], certificates });
  if (origin === undefined) return;
  const finding = uncertified([new URL(origin).hostname], names);
  if (finding === undefined) return;
  const hint = 'add it to the names of a certificate that is valid for it, or write one of those names here';
  report(['public'], { ...finding, hint });
}
