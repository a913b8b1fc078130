// Writes log lines in batches, without blocking, and drops lines if the destination is too slow.
import { openSync } from 'node:fs';
import { pino } from 'pino';
import { createLineBuffer, type LineBuffer } from './line-buffer.ts';

/**
 * A file descriptor, the path of a file to append to, or an object that takes complete lines. If `take` returns false,
 * the lines are dropped.
 */
export type LogDestination =
  | number
  | string
  | { readonly write: (text: string) => unknown }
  | { readonly take: (text: string) => boolean };

export interface LogSink {
  /** The buffer for a line of at most 64 KiB, completed by `endLine`. */
  readonly line: LineBuffer;
  /** Ends a line that is a JSON object, by a brace and a line end. */
  readonly endLine: () => void;
  /** Adds one line without its line end. */
  readonly append: (line: string) => void;
  /** Adds lines of another process, each with its line end. */
  readonly relay: (lines: string) => void;
  readonly flush: () => void;
  /** Lines dropped because the destination was slow, broken or closed. */
  readonly dropped: () => number;
  /** Flushes and closes the destination, within a second even if the reader is stuck. */
  readonly close: () => Promise<void>;
}

const BATCH_BYTES = 64 * 1024;
const LONGEST_LINE = 64 * 1024;
const BATCH_MS = 200;
const END = Buffer.from('}\n');
/** Batches that wait for a slow write are written together. */
const WRITE_BYTES = 1024 * 1024;
const HELD_BYTES = 8 * 1024 * 1024;
const CLOSE_WITHIN_MS = 1000;

interface Outlet {
  readonly write: (lines: Buffer) => void;
  readonly close: () => Promise<void>;
}

/** @throws the system's error if the file cannot be opened */
export function createLogSink(destination: LogDestination): LogSink {
  const line = createLineBuffer(BATCH_BYTES + LONGEST_LINE);
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;
  let closing: Promise<void> | undefined;
  const drop = (lines: Buffer): void => {
    for (let at = lines.indexOf('\n'); at !== -1; at = lines.indexOf('\n', at + 1)) dropped += 1;
  };
  const outlet =
    typeof destination === 'object' ? directOutlet(destination, drop) : streamOutlet(destination, drop);

  const send = (lines: Buffer): void => {
    if (closing === undefined) outlet.write(lines);
    else drop(lines);
  };

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (line.length() > 0) send(line.take());
  }

  const gathered = (): void => {
    if (closing !== undefined || line.length() >= BATCH_BYTES) flush();
    // Not unref'd, so that a process that ends by itself still writes its last lines.
    else timer ??= setTimeout(flush, BATCH_MS);
  };

  const relay = (lines: string): void => {
    if (lines.length <= LONGEST_LINE) {
      line.text(lines);
      gathered();
    } else {
      flush();
      send(Buffer.from(lines, 'latin1'));
    }
  };

  return {
    line,
    endLine: () => {
      line.bytes(END);
      gathered();
    },
    append: (text) => relay(`${text}\n`),
    relay,
    flush,
    dropped: () => dropped,
    close: () => {
      if (closing === undefined) {
        flush();
        closing = outlet.close();
      }
      return closing;
    },
  };
}

function directOutlet(target: Extract<LogDestination, object>, drop: (lines: Buffer) => void): Outlet {
  const write = (lines: Buffer): void => {
    const text = lines.toString('latin1');
    if ('write' in target) target.write(text);
    else if (!target.take(text)) drop(lines);
  };
  return { write, close: () => Promise.resolve() };
}

function streamOutlet(destination: number | string, drop: (lines: Buffer) => void): Outlet {
  // Opened synchronously, so that an unwritable log file fails the start.
  const fd = typeof destination === 'string' ? openSync(destination, 'a', 0o640) : destination;
  const stream = pino.destination({
    fd,
    dest: fd,
    sync: false,
    contentMode: 'buffer',
    maxWrite: WRITE_BYTES,
    maxLength: HELD_BYTES,
  });
  // At exit, pino retries without end if the reader is stuck or the disk is full. This event stops that. `close` writes
  // the rest, within its bound.
  stream.emit('close');
  let broken = false;
  // Batches not yet written, oldest first, and the octets of the first that are written. A broken pipe loses the rest.
  const waiting: Buffer[] = [];
  let written = 0;
  stream.on('write', (octets: number) => {
    written += octets;
    for (let [first] = waiting; first !== undefined && written >= first.length; [first] = waiting) {
      written -= first.length;
      waiting.shift();
    }
  });
  stream.on('drop', (lines: Buffer) => {
    waiting.pop();
    drop(lines);
  });
  // On a full disk, the next batch retries, up to the bound. A closed pipe is final.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' || broken) return;
    broken = true;
    drop(Buffer.concat(waiting.splice(0)).subarray(written));
  });
  return {
    write: (lines) => {
      if (broken) {
        drop(lines);
        return;
      }
      waiting.push(lines);
      // pino's types ignore `contentMode`.
      Reflect.apply(stream.write, stream, [lines]);
    },
    close: () =>
      new Promise((resolve) => {
        if (broken) {
          resolve();
          return;
        }
        const deadline = setTimeout(resolve, CLOSE_WITHIN_MS);
        const done = (): void => {
          clearTimeout(deadline);
          resolve();
        };
        stream.once('close', done);
        stream.once('error', done);
        stream.end();
      }),
  };
}
