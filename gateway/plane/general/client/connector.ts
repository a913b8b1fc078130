// How a connection to a target is made, always verified, with the trust, certificate, name and address of its upstream.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { UpstreamPlan } from '../../../plan/plan.ts';
import { hostNameOf, type NameLookup } from '../../../upstream/name-lookup.ts';
import { targetOptions } from '../../target-options.ts';

export interface Reach {
  /** A connector for undici; `onSocket` gets the socket of each connection. */
  readonly connect: buildConnector.connector;
  /** For connections of their own that begin with HTTP/1.1. */
  readonly agent: HttpAgent;
}

export interface ReachOptions {
  readonly names: NameLookup;
  readonly onSocket: (socket: Socket) => void;
  /** PEM bundle for upstreams that name no authority of their own; default: Node's. */
  readonly ca?: string | undefined;
}

/**
 * Read into one buffer for all connections. Node alone would allocate 64 KiB for each read, however little has come, and
 * hold three such pieces for a client that takes nothing.
 */
const READ_BYTES = 32 * 1_024;
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

function pushCopy(this: unknown, length: number, from: Uint8Array): boolean {
  return (this as Socket).push(Buffer.from(from.subarray(0, length)));
}

export function createReach(
  origin: string,
  upstream: UpstreamPlan,
  { names, onSocket, ca = undefined }: ReachOptions,
): Reach {
  const { http2, timeouts } = upstream;
  const hostName = hostNameOf(origin);
  const options = targetOptions(origin, upstream, { names, ca });
  const connector = buildConnector({
    ...options,
    onread: { buffer: readBuffer, callback: pushCopy },
    allowH2: http2,
    preferH2: http2,
    timeout: timeouts.connect,
  });
  const secure = new URL(origin).protocol === 'https:';
  return {
    connect: ({ servername: _fromHostField, ...target }, callback) =>
      connector(secure ? { ...target, servername: options.servername } : target, (...args) => {
        if (args[0] === null) {
          const [, socket] = args;
          // Prior knowledge (RFC 9113 §3.3): undici goes by what TLS would have agreed on.
          if (http2 && !secure) Object.assign(socket, { alpnProtocol: 'h2' });
          onSocket(socket);
        } else if (hostName !== undefined) names.invalidate(hostName);
        callback(...args);
      }),
    agent: secure ? new HttpsAgent(options) : new HttpAgent({ lookup: names.lookup }),
  };
}

const CONTINUE = ['HTTP/1.1 100', 'HTTP/1.0 100'].map((text) => Buffer.from(text, 'latin1'));
const LENGTH = 12;
const BLANK = 0x20;
const CARRIAGE_RETURN = 0x0d;
const END = Buffer.from('\r\n\r\n', 'latin1');
/** An interim answer that is longer is not waited for: the parser refuses it. */
const LONGEST = 16_384;

/**
 * Takes "100 Continue" out of what an upstream answers: nothing asked for it, and undici ends the connection over it. Other
 * interim answers are passed over by the call itself (FWD-13).
 * Changes how undici reads `socket`; what is returned is called before each request: its answer begins with a
 * status line.
 */
export function passOverContinue(socket: Socket): () => void {
  const read: (size?: number) => Buffer | null = socket.read.bind(socket);
  let beginning = false;
  let held: Buffer | undefined;

  function release(): Buffer | null {
    beginning = false;
    const all = held ?? null;
    held = undefined;
    return all;
  }

  socket.read = (size) => {
    while (beginning) {
      const chunk = read();
      if (chunk === null) return null;
      held = held === undefined ? chunk : Buffer.concat([held, chunk]);
      while (held !== undefined && held.length > LENGTH && mayBeContinue(held)) {
        const end: number = held.indexOf(END);
        if (end === -1) break;
        held = held.length === end + END.length ? undefined : held.subarray(end + END.length);
      }
      if (held === undefined) continue;
      if (!mayBeContinue(held) || held.length > LONGEST) return release();
    }
    return read(size);
  };
  return () => {
    beginning = true;
  };
}

/** Whether what has come so far is the beginning of one. */
function mayBeContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, LENGTH);
  const after = bytes[LENGTH] ?? BLANK;
  return (
    (after === BLANK || after === CARRIAGE_RETURN) &&
    CONTINUE.some((prefix) => bytes.compare(prefix, 0, length, 0, length) === 0)
  );
}
