// The verdict on the outcome of a case. A broken universal rule is a FAIL for any outcome.
import type { Answer } from '../answers.ts';
import { type Field, holds, valuesOf } from '../field-lines.ts';
import type { RecordedRequest } from '../recorded-request.ts';
import type { FieldTest, Outcome } from '../wire-case.ts';

export interface Verdict {
  readonly verdict: 'PASS' | 'LAX' | 'FAIL';
  readonly outcome: Outcome;
  /** Of the final response. 0 without one. */
  readonly status: number;
  readonly reasons: readonly string[];
  /** The status differs from the rules, but is safe. */
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

/** In each response of the recorder, to tell it from responses of a proxy. */
export const MARK: FieldTest = ['x-upstream', /^suite$/];

// Internals that a proxy's own response must not show.
const INSIDE = /ECONN|UND_ERR|HPE_|ERR_[A-Z]|\bat .+\.[jt]s:\d|127\.0\.0\.1|localhost|node_modules/;
const CONNECTION_FIELDS = ['keep-alive', 'proxy-connection', 'te', 'trailer', 'proxy-authenticate'];

export interface BothEnds {
  readonly answers: readonly Answer[];
  readonly upstream: readonly RecordedRequest[];
  /** Octets at the upstream after its 101. */
  readonly tunnelled: string;
  /** Whether a valid request on a new connection got its response afterwards. */
  readonly worksAfterwards: boolean;
}

/** Holds for each case: valid heads on both sides, no internals, and a proxy that still works. */
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

/** A proxy may describe its own connection, such as its keep-alive timeout. */
function hopByHop(fields: readonly Field[]): string[] {
  return CONNECTION_FIELDS.filter((name) => valuesOf(fields, name).length > 0).filter(
    (name) => name !== 'keep-alive' || !valuesOf(fields, name).every((value) => value.startsWith('timeout=')),
  );
}
