// Takes "100 Continue" out of what an upstream answers: nobody asked for it, and undici ends the connection over it.
// Put on each HTTP/1.1 connection of a pool; other interim answers are passed over by the call itself (FWD-13).
import type { Socket } from 'node:net';

const CONTINUE = ['HTTP/1.1 100', 'HTTP/1.0 100'].map((text) => Buffer.from(text, 'latin1'));
const LENGTH = 12;
const BLANK = 0x20;
const CARRIAGE_RETURN = 0x0d;
const END = Buffer.from('\r\n\r\n', 'latin1');
/** An interim answer that is longer is not waited for: the parser refuses it. */
const LONGEST = 16_384;

/** Changes how undici reads `socket`; what is returned is called before each request: its answer begins with a status line. */
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
      while (held !== undefined && isContinue(held)) {
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

function isContinue(bytes: Buffer): boolean {
  return bytes.length > LENGTH && mayBeContinue(bytes);
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
