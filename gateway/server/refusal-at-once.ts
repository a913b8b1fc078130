// Whether a request is refused before anything is judged: by this listener's mode, for load, or because it cannot be read.
// Asked by request-life.ts once for each request.
import type { Refusal } from '../exchange/directive.ts';
import { plainRefusal } from '../exchange/plain-http.ts';
import type { PlainMode } from '../plan/settings.ts';
import type { ShedReason } from '../telemetry/bounds-report.ts';
import type { Intake } from './intake.ts';
import type { OpenRequest } from './open-request.ts';
import { overloaded } from './overload.ts';
import type { Reading } from './request-view.ts';

export interface RefusalPorts {
  readonly scheme: 'https' | 'http';
  readonly mode: PlainMode;
  readonly intake: Intake;
  /** The real clock, epoch milliseconds. */
  readonly now: () => number;
}

export function refusalAtOnce(
  { client, facts }: OpenRequest,
  reading: Reading,
  shed: ShedReason | undefined,
  { scheme, mode, intake, now }: RefusalPorts,
): Refusal | undefined {
  // TLS-5: what is served in the clear is for this machine and the proxies in front of it.
  if (mode !== 'serve' || (scheme === 'http' && !client.isNear)) {
    const effective = mode === 'serve' ? 'reject' : mode;
    return plainRefusal(effective, reading.kind === 'view' ? reading.view : undefined, facts.start.plan);
  }
  if (shed !== undefined) {
    intake.report.shed(shed);
    return overloaded(now());
  }
  return reading.kind === 'refused' ? reading.refusal : undefined;
}
