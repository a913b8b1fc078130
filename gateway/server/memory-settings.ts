// What keeps the memory of every process that serves requests low: flags of V8, and the size of buffers.
import { setDefaultHighWaterMark } from 'node:stream';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const V8_FLAGS = [
  // Under load V8 would take the objects of requests for long-lived ones and make them where only full collections look.
  // What they point to stays with them: half of the memory, and a third of the time.
  '--no-allocation-site-pretenuring',
  // A full collection comes when the heap has grown by half. V8 would let it grow to a multiple first.
  '--heap-growing-percent=50',
  // A request passes through a few hundred small functions. With V8's own bounds many of them stay calls.
  '--max-inlined-bytecode-size-cumulative=3000',
  '--max-inlined-bytecode-size=1500',
  '--max-inlined-bytecode-size-small=80',
];
/** Node's own default of 64 KiB is held for every client that takes nothing. A TLS server has no option for it. */
const HIGH_WATER_MARK = 16 * 1_024;
/** V8 would let the young generation grow to three times as much. */
const YOUNG_BYTES = 16 * 1_024 * 1_024;
const LOOK_EVERY_MS = 100;

export function keepMemoryLow(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  setDefaultHighWaterMark(false, HIGH_WATER_MARK);
  // The flag that bounds the young generation is read once, before any of this runs; its growth is read each time.
  setInterval(boundYoungGeneration, LOOK_EVERY_MS).unref();
}

function boundYoungGeneration(): void {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const factor = young !== undefined && young.space_size >= YOUNG_BYTES ? 1 : 2;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
