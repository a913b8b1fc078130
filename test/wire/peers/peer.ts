// Runs another proxy as a child process, with its own ports and a temporary folder.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '../../support/ports.ts';
import { HOST, PREFIX } from '../our-gateway.ts';
import type { Listener } from '../run-cases.ts';
import { haproxy, nginx } from './configs.ts';

export const PEERS = ['nginx', 'haproxy'] as const;
export type PeerName = (typeof PEERS)[number];

export interface Peer extends AsyncDisposable {
  readonly version: string;
  readonly plain: Listener;
  readonly tls: Listener;
}

const run = promisify(execFile);

/** @throws Error if it is not installed, or does not listen within ten seconds */
export async function startPeer(name: PeerName, upstreamPort: number): Promise<Peer> {
  const version = await versionOf(name);
  const folder = await mkdtemp(join(tmpdir(), `sundial-wire-${name}-`));
  await makeCertificate(folder);
  const [plainPort = 0, tlsPort = 0] = await freePorts(2);
  const config = join(folder, `${name}.conf`);
  const place = { folder, plainPort, tlsPort, upstreamPort };
  await writeFile(config, name === 'nginx' ? nginx(place) : haproxy(place));
  const args = name === 'nginx' ? ['-e', join(folder, 'error.log'), '-c', config] : ['-db', '-f', config];
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  await listens(plainPort, child, () => complaint);
  const listener = (port: number, tls: boolean): Listener => ({
    address: { host: '127.0.0.1', port, tls, serverName: HOST },
    host: HOST,
    prefix: PREFIX,
  });
  return {
    version,
    plain: listener(plainPort, false),
    tls: listener(tlsPort, true),
    [Symbol.asyncDispose]: async () => {
      const gone = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function versionOf(name: PeerName): Promise<string> {
  const { stdout, stderr } = await run(name, ['-v']).catch(() => {
    throw new Error(`${name} is not installed here; leave --peers out, or install it`);
  });
  return `${name} ${/\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? ''}`.trim();
}

async function makeCertificate(folder: string): Promise<void> {
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const name = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await run('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...name]);
  await run('sh', ['-c', 'cat "$1" "$2" > "$3"', 'sh', cert, key, join(folder, 'both.pem')]);
}

async function listens(port: number, child: ChildProcess, complaint: () => string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline && child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await wait(50);
  }
  throw new Error(`it does not listen: ${complaint()}`);
}
