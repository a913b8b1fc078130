// Reduces the memory of every process that serves requests: V8 flags and buffer sizes.
import { setDefaultHighWaterMark } from 'node:stream';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const V8_FLAGS = [
  // Under load V8 allocates request objects in the old generation, which only full collections clean. Objects that they
  // reference stay too: that costs half of the memory and a third of the time.
  '--no-allocation-site-pretenuring',
  // A full collection runs when the heap has grown by half. V8's default is a multiple.
  '--heap-growing-percent=50',
  // A request runs through a few hundred small functions. With V8's default limits many of them are not inlined.
  '--max-inlined-bytecode-size-cumulative=3000',
  '--max-inlined-bytecode-size=1500',
  '--max-inlined-bytecode-size-small=80',
];
/** Node's default of 64 KiB is allocated for every client that reads nothing. A TLS server has no option for it. */
const HIGH_WATER_MARK = 16 * 1_024;
/** V8 would let the young generation grow to three times this size. */
const YOUNG_BYTES = 16 * 1_024 * 1_024;
const LOOK_EVERY_MS = 100;

export function keepMemoryLow(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  setDefaultHighWaterMark(false, HIGH_WATER_MARK);
  // V8 reads the flag for the maximum once, before this code runs. It reads the growth factor each time.
  setInterval(boundYoungGeneration, LOOK_EVERY_MS).unref();
}

function boundYoungGeneration(): void {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const factor = young !== undefined && young.space_size >= YOUNG_BYTES ? 1 : 2;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
