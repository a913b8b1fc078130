// The flags of V8 for every process that serves requests.
// On the command line of Node they would need a second start; V8 reads these ones whenever it decides.
import { setFlagsFromString } from 'node:v8';

const V8_FLAGS = [
  // Under load V8 would take the objects of requests for long-lived ones and make them where only full collections look.
  // What they point to stays with them: half of the memory, and a third of the time.
  '--no-allocation-site-pretenuring',
  // A full collection comes when the heap has grown by half. V8 would let it grow to a multiple first.
  '--heap-growing-percent=50',
];

export function setV8Flags(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
}
