// Creates connections to a target for undici and for Node's agents. Certificates are always verified.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { UpstreamPlan } from '../../../plan/plan.ts';
import { hostNameOf, type NameLookup } from '../../../upstream/name-lookup.ts';
import { targetOptions } from '../../target-options.ts';

export interface TargetConnector {
  readonly connect: buildConnector.connector;
  /** For connections outside the pool that begin with HTTP/1.1. */
  readonly agent: HttpAgent;
}

export interface TargetConnectorOptions {
  readonly names: NameLookup;
  readonly onSocket: (socket: Socket) => void;
  /** PEM bundle for upstreams without a CA of their own. Default: Node's. */
  readonly ca?: string | undefined;
}

/**
 * All connections read into one buffer. Otherwise Node allocates 64 KiB for each read, however short, and
 * holds three of these buffers for a client that does not read.
 */
const READ_BYTES = 32 * 1_024;
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

function pushCopy(this: unknown, length: number, from: Uint8Array): boolean {
  return (this as Socket).push(Buffer.from(from.subarray(0, length)));
}

export function createTargetConnector(
  origin: string,
  upstream: UpstreamPlan,
  { names, onSocket, ca = undefined }: TargetConnectorOptions,
): TargetConnector {
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
          // Prior knowledge (RFC 9113 §3.3): undici reads the protocol that TLS would have negotiated.
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
/** Octets. The parser refuses a longer interim response. */
const LONGEST = 16_384;

/**
 * Replaces `socket.read`, so that undici does not see "100 Continue": it closes the connection on a 100 that
 * no request asked for. Returns a function to call before each request. `callTarget` ignores other interim
 * responses (FWD-13).
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

function mayBeContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, LENGTH);
  const after = bytes[LENGTH] ?? BLANK;
  return (
    (after === BLANK || after === CARRIAGE_RETURN) &&
    CONTINUE.some((prefix) => bytes.compare(prefix, 0, length, 0, length) === 0)
  );
}
