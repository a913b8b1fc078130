// How a case is weighed once its outcome is known, the same for requests, responses and WebSockets.
// Any broken universal rule is a FAIL, whatever the outcome.
import type { Answer } from '../answers.ts';
import { type Field, holds, valuesOf } from '../field-lines.ts';
import type { RecordedRequest } from '../recorded-request.ts';
import type { FieldTest, Outcome } from '../wire-case.ts';

export interface Verdict {
  readonly verdict: 'PASS' | 'LAX' | 'FAIL';
  readonly outcome: Outcome;
  /** Of the final answer; 0 without one. */
  readonly status: number;
  /** Why it is not a PASS. */
  readonly reasons: readonly string[];
  /** The status was another than the rules ask for; safe all the same. */
  readonly note: string | undefined;
}

export interface Weighed {
  readonly pass: readonly Outcome[];
  readonly lax: readonly Outcome[];
  readonly status: readonly number[] | undefined;
}

export function weigh(
  { pass, lax, status: asked }: Weighed,
  outcome: Outcome,
  status: number,
  broken: readonly string[],
): Verdict {
  const allowed = pass.includes(outcome);
  const off = allowed ? [] : [`${outcome}${status === 0 ? '' : ` with ${status}`}, not ${pass.join(' or ')}`];
  const tolerated = allowed || lax.includes(outcome);
  return {
    verdict: broken.length > 0 || !tolerated ? 'FAIL' : allowed ? 'PASS' : 'LAX',
    outcome,
    status,
    reasons: [...new Set([...broken, ...off])],
    note: asked === undefined || asked.includes(status) ? undefined : `${status} for ${asked.join(' or ')}`,
  };
}

/** In every answer of the recorder: tells its answers from those that a proxy makes itself. */
export const MARK: FieldTest = ['x-upstream', /^suite$/];

// What an answer of the proxy's own must not say about its inside.
const INSIDE = /ECONN|UND_ERR|HPE_|ERR_[A-Z]|\bat .+\.[jt]s:\d|127\.0\.0\.1|localhost|node_modules/;
const CONNECTION_FIELDS = ['keep-alive', 'proxy-connection', 'te', 'trailer', 'proxy-authenticate'];

export interface BothEnds {
  readonly answers: readonly Answer[];
  readonly upstream: readonly RecordedRequest[];
  /** Bytes that came at the upstream after a 101 of its own. */
  readonly tunnelled: string;
  /** Whether a clean request on a new connection was answered as it should be, afterwards. */
  readonly worksAfterwards: boolean;
}

/** What must hold in every case: clean heads on both sides, no secret, and a proxy that goes on. */
export function universalFaults({ answers, upstream, worksAfterwards }: BothEnds): string[] {
  const faults = upstream.flatMap(({ dirt }) => dirt.map((each) => `the upstream got ${each}`));
  for (const { dirt, status, fields, body } of answers) {
    faults.push(...dirt.map((each) => `the client got ${each}`));
    const own = !holds(fields, MARK);
    if (own && status === 500) faults.push('a 500');
    if (own && status >= 400 && INSIDE.test(body)) faults.push('an error that tells of the inside');
    if (status !== 101) faults.push(...hopByHop(fields).map((name) => `the client got ${name}`));
  }
  if (!worksAfterwards) faults.push('a clean request afterwards got no proper answer');
  return faults;
}

/** A proxy may speak of its own connection; a keep-alive time-out of its own is such a thing. */
function hopByHop(fields: readonly Field[]): string[] {
  return CONNECTION_FIELDS.filter((name) => valuesOf(fields, name).length > 0).filter(
    (name) => name !== 'keep-alive' || !valuesOf(fields, name).every((value) => value.startsWith('timeout=')),
  );
}
