// Where log lines go: gathered into batches, written without blocking, bounded when the reader is slow.
// Logger and access log share one sink, so that lines of both never interleave inside each other.
import { openSync } from 'node:fs';
import { pino } from 'pino';

/**
 * A file descriptor, the path of a file to append to, or something that takes whole lines. One that answers `take` with
 * false has no room for them, so that they are counted as lost.
 */
export type LogDestination =
  | number
  | string
  | { readonly write: (text: string) => unknown }
  | { readonly take: (text: string) => boolean };

export interface LogSink {
  /** Takes one line, without its line end; written with its batch. */
  readonly append: (line: string) => void;
  /** Takes lines that another process has gathered, each with its line end. */
  readonly relay: (lines: string) => void;
  /** Writes what is gathered now. */
  readonly flush: () => void;
  /** Lines lost because the destination was slow, broken or already closed. */
  readonly dropped: () => number;
  /** Flushes and lets go of the destination; waits at most one second for a reader that has stopped. */
  readonly close: () => Promise<void>;
}

const BATCH_CHARACTERS = 64 * 1024;
const BATCH_MS = 200;
/** Batches that wait behind a slow write leave together. */
const WRITE_BYTES = 1024 * 1024;
const HELD_BYTES = 8 * 1024 * 1024;
const CLOSE_WITHIN_MS = 1000;

interface Outlet {
  readonly write: (text: string) => void;
  readonly close: () => Promise<void>;
}

/** @throws the system's error when a file cannot be opened */
export function createLogSink(destination: LogDestination): LogSink {
  let batch = '';
  let timer: NodeJS.Timeout | undefined;
  let dropped = 0;
  let closing: Promise<void> | undefined;
  const drop = (text: string): void => {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) dropped += 1;
  };
  const outlet =
    typeof destination === 'object' ? directOutlet(destination, drop) : streamOutlet(destination, drop);

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (batch === '') return;
    const text = batch;
    batch = '';
    outlet.write(text);
  }

  const gather = (lines: string): void => {
    if (closing !== undefined) {
      drop(lines);
      return;
    }
    batch += lines;
    if (batch.length >= BATCH_CHARACTERS) flush();
    // Not unref'd: a process that ends by itself still writes its last lines.
    else timer ??= setTimeout(flush, BATCH_MS);
  };

  return {
    append: (line) => gather(`${line}\n`),
    relay: gather,
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

function directOutlet(target: Extract<LogDestination, object>, drop: (text: string) => void): Outlet {
  const write = (text: string): void => {
    if ('write' in target) target.write(text);
    else if (!target.take(text)) drop(text);
  };
  return { write, close: () => Promise.resolve() };
}

function streamOutlet(destination: number | string, drop: (text: string) => void): Outlet {
  // Opened here and synchronously: a log file that cannot be written is a failure to start, not a surprise later.
  const fd = typeof destination === 'string' ? openSync(destination, 'a', 0o640) : destination;
  const stream = pino.destination({
    fd,
    dest: fd,
    sync: false,
    maxWrite: WRITE_BYTES,
    maxLength: HELD_BYTES,
  });
  let broken = false;
  // Handed over and not written yet, oldest first, and how much of the first is: who goes away takes that along.
  const waiting: string[] = [];
  let written = 0;
  stream.on('write', (octets: number) => {
    // Log lines are ASCII, so that an octet is a character.
    written += octets;
    for (let [first] = waiting; first !== undefined && written >= first.length; [first] = waiting) {
      written -= first.length;
      waiting.shift();
    }
  });
  stream.on('drop', (text: string) => {
    waiting.pop();
    drop(text);
  });
  // A full disk is retried with the next batch until the bound is reached; a closed pipe never comes back.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' || broken) return;
    broken = true;
    drop(waiting.splice(0).join('').slice(written));
  });
  return {
    write: (text) => {
      if (broken) {
        drop(text);
        return;
      }
      waiting.push(text);
      stream.write(text);
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
