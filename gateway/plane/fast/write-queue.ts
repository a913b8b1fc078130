// Writes of the fast plane wait for the end of the turn of the event loop, or until many wait.
// A write wakes the process that reads it. On one machine this costs more than the write, unless that process is awake already.

/** Something with octets to write. */
export interface Writer {
  readonly writeNow: () => void;
}

/** Bounds the time for which the first one waits. */
const MOST_WAITING = 64;

const waiting: Writer[] = [];
let isArmed = false;

/** Calls `writeNow` of `writer` once, soon. */
export function writeSoon(writer: Writer): void {
  waiting.push(writer);
  if (waiting.length >= MOST_WAITING) writeAll();
  else if (!isArmed) {
    isArmed = true;
    setImmediate(onTurnEnd);
  }
}

function onTurnEnd(): void {
  isArmed = false;
  writeAll();
}

function writeAll(): void {
  const writers = waiting.splice(0);
  for (const writer of writers) writer.writeNow();
}
