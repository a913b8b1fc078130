// What the gateway is put through: slow heads and slow bodies by slowhttptest, and an HTTP/2 client that only resets.
// Each ends by itself within the time it is given; run.ts looks at the gateway meanwhile.
import { spawn } from 'node:child_process';
import { connect, constants } from 'node:http2';

export interface Attack {
  readonly name: string;
  /** Resolves when the attacker has left. */
  readonly run: (port: number) => Promise<void>;
}

const CONNECTIONS = 1_000;
const SECONDS = 20;
const RESETS = 10_000;

function slowhttptest(mode: '-H' | '-B', port: number): Promise<void> {
  const url = `https://127.0.0.1:${port}/api/slow`;
  const given = ['-c', CONNECTIONS, '-r', 500, '-i', 2, '-l', SECONDS, '-x', 10, '-p', 5, '-u', url, mode];
  const child = spawn('slowhttptest', [...given.map(String), ...(mode === '-B' ? ['-s', '100000'] : [])], {
    stdio: 'ignore',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

/** Opens connection after connection, each of which resets until it is ended. */
async function resets(port: number): Promise<void> {
  let left = RESETS;
  while (left > 0) {
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    await new Promise((resolve) => session.once('connect', resolve).once('close', resolve));
    while (left > 0 && !session.destroyed && !session.closed) {
      for (let burst = 0; burst < 50 && !session.destroyed && !session.closed; burst += 1) {
        const stream = session.request({ ':path': '/api/slow?delay=5000', ':authority': '127.0.0.1' });
        stream.on('error', () => undefined);
        stream.close(constants.NGHTTP2_CANCEL);
        left -= 1;
      }
      // Until the gateway has read them: what is still held back here is no attack.
      await new Promise((resolve) => {
        session.once('close', resolve);
        if (session.destroyed || !session.ping(resolve)) resolve(undefined);
      });
    }
    session.destroy();
  }
}

export const attacks: readonly Attack[] = [
  { name: `${CONNECTIONS} slow header sections`, run: (port) => slowhttptest('-H', port) },
  { name: `${CONNECTIONS} slow bodies`, run: (port) => slowhttptest('-B', port) },
  { name: `${RESETS} HTTP/2 resets`, run: resets },
];
