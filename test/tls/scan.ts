// `npm run test:tls`: TLS scanners against a gateway (TLS-1, TLS-2). Exit code 1: a finding, 2: no scanner.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGateway } from '../../gateway/gateway.ts';
import { makeKeyPair } from '../support/key-pairs.ts';

const run = promisify(execFile);
const MAX_OUTPUT = 16 * 1024 * 1024;
const TOOLS = { sslscan: 'sslscan', testssl: 'testssl.sh', openssl: 'openssl' };
/** The kind of key for each server name. */
const NAMES = { 'ec.example': 'ec', 'rsa.example': 'rsa' } as const;
const SUITE =
  /^(?:TLS_(?:AES_(?:128|256)_GCM|CHACHA20_POLY1305)_SHA\d+|ECDHE-(?:ECDSA|RSA)-(?:AES\d+-GCM-SHA\d+|CHACHA20-POLY1305))$/;

async function missingTools(): Promise<readonly string[]> {
  const found = await Promise.all(
    Object.keys(TOOLS).map((tool) =>
      run('which', [tool]).then(
        () => true,
        () => false,
      ),
    ),
  );
  return Object.values(TOOLS).filter((_, index) => !found[index]);
}

/** Returns one sentence for each finding. */
async function bySslscan(port: number, name: string): Promise<readonly string[]> {
  const { stdout } = await run('sslscan', [
    '--no-colour',
    '--xml=-',
    `--sni-name=${name}`,
    `127.0.0.1:${port}`,
  ]);
  const attributesOf = (tag: string) =>
    [...stdout.matchAll(new RegExp(`<${tag} ([^>]*)/>`, 'g'))].map(([, text = '']) =>
      Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
    );
  const protocols = attributesOf('protocol')
    .filter(({ enabled }) => enabled === '1')
    .map(({ type, version }) => `${type} ${version}`);
  const suites = attributesOf('cipher').map(({ cipher = '' }) => cipher);
  const wrong = suites.filter((suite) => !SUITE.test(suite)).map((suite) => `${suite} is accepted`);
  if (protocols.join() !== 'tls 1.2,tls 1.3') wrong.push(`protocols: ${protocols.join() || 'none'}`);
  if (suites.length < 6) wrong.push(`only ${suites.length} suites were seen`);
  for (const { vulnerable } of attributesOf('heartbleed')) if (vulnerable !== '0') wrong.push('heartbleed');
  if (attributesOf('compression').some(({ supported }) => supported !== '0')) wrong.push('compression');
  return wrong;
}

async function byTestssl(port: number, name: string, folder: string): Promise<readonly string[]> {
  const report = join(folder, `${name}.json`);
  const options = [
    '--quiet',
    '--color',
    '0',
    '--jsonfile',
    report,
    '-p',
    '-s',
    '-R',
    '-C',
    '-W',
    '-4',
    '--ip',
    '127.0.0.1',
  ];
  const { stdout } = await run('testssl', [...options, `${name}:${port}`], { maxBuffer: MAX_OUTPUT }).catch(
    // The exit code counts findings, which are in the report.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const findings: readonly { id: string; severity: string; finding: string }[] = JSON.parse(
    await readFile(report, 'utf8'),
  );
  const wrong = findings
    .filter(({ severity }) => /^(?:LOW|MEDIUM|HIGH|CRITICAL|FATAL)$/.test(severity))
    .map(({ id, severity, finding }) => `testssl: ${id} ${severity}: ${finding}`);
  if (!findings.some(({ id, finding }) => id === 'TLS1_3' && /offered/.test(finding)))
    wrong.push(`testssl found no TLS 1.3:\n${stdout}`);
  return wrong;
}

/** RFC 8470: the gateway accepts no early data. */
async function byOpenssl(port: number, name: string): Promise<readonly string[]> {
  const client = run('openssl', [
    's_client',
    '-ign_eof',
    '-tls1_3',
    '-servername',
    name,
    '-connect',
    `127.0.0.1:${port}`,
  ]);
  // Tickets follow the handshake. The request makes the client wait for them.
  client.child.stdin?.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const { stdout } = await client;
  const limits = [...stdout.matchAll(/Max Early Data: (\d+)/g)].map(([, limit]) => limit);
  return limits.length > 0 && limits.every((limit) => limit === '0')
    ? []
    : [`early data: ${limits.join() || 'no ticket seen'}`];
}

async function scan(): Promise<number> {
  const missing = await missingTools();
  if (missing.length > 0) {
    process.stderr.write(
      `not installed: ${missing.join(', ')}. On Debian: apt-get install ${missing.join(' ')}\n`,
    );
    return 2;
  }
  const folder = await mkdtemp(join(tmpdir(), 'sundial-scan-'));
  try {
    const certificates = [];
    for (const [name, kind] of Object.entries(NAMES)) {
      const { cert, key } = await makeKeyPair({ names: [name], kind });
      await writeFile(join(folder, `${name}.crt`), cert);
      await writeFile(join(folder, `${name}.key`), key, { mode: 0o600 });
      certificates.push({ names: [name], cert: `${name}.crt`, key: `${name}.key` });
    }
    const configFile = join(folder, 'gateway.yaml');
    const listeners = { https: { address: '127.0.0.1:0', hsts: '1d', tls: { certificates } } };
    await writeFile(
      configFile,
      JSON.stringify({ public: 'https://ec.example', listeners, data: folder, policies: './api.yaml' }),
    );
    await writeFile(
      join(folder, 'api.yaml'),
      'api: a\nbase: /a\nversions: none\naccess: public\nupstreams: { default: { targets: [http://127.0.0.1:9] } }\n',
    );
    const started = await startGateway({ configFile, environment: {}, log: { write: () => undefined } });
    if (started.kind === 'rejected') throw new Error(JSON.stringify(started.problems));
    const port = started.gateway.facts.listeners.https?.address.port ?? 0;
    let wrong = 0;
    for (const name of Object.keys(NAMES)) {
      for (const by of [bySslscan, byOpenssl, byTestssl]) {
        const found = await by(port, name, folder);
        wrong += found.length;
        process.stdout.write(
          `${name} ${by.name.slice(2).toLowerCase()}: ${found.join('; ') || 'in order'}\n`,
        );
      }
    }
    await started.gateway.close();
    return wrong === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await scan();
