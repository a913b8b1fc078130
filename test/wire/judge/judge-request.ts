// Judges a request case from what both ends saw. Runs after all cases, so that late octets count.
import { type Answer, finalAnswers } from '../answers.ts';
import { holds } from '../field-lines.ts';
import type { RecordedRequest } from '../recorded-request.ts';
import type { Spot } from '../spot.ts';
import type { Outcome, RequestCase } from '../wire-case.ts';
import { forwardedPathFaults, wasNormalised } from './forwarded-path.ts';
import { type BothEnds, MARK, universalFaults, type Verdict, weigh } from './verdict.ts';

export interface RequestSeen extends BothEnds {
  readonly closed: boolean;
  /** Names of the fields that the proxy adds to a valid request. */
  readonly ownFields: readonly string[];
}

type Judged = Omit<RequestCase, 'send'>;

/** Accepting more than a strict parser is lax if the forwarded message is valid. */
const LAX: readonly Outcome[] = ['forwarded', 'normalised', 'redirected', 'unavailable', 'waiting'];

export function judgeRequest(asked: Judged, spot: Spot, seen: RequestSeen): Verdict {
  const [answer] = finalAnswers(seen.answers);
  const own = seen.upstream.filter(({ target }) => !target.includes('/canary/'));
  const outcome = outcomeOf(asked, spot, answer, seen.closed, own);
  const broken = [
    ...universalFaults(seen),
    ...canaryFaults(asked, outcome, seen.upstream),
    ...(asked.truncated ? truncationFaults(seen.upstream) : []),
    ...(outcome === 'refused' ? refusalFaults(asked, seen, own) : []),
    ...(outcome === 'forwarded' ? forwardingFaults(asked, seen) : []),
    ...own.flatMap((request) => requestFaults(asked, spot, seen.ownFields, request)),
  ];
  if (seen.tunnelled !== '') broken.push('bytes of the client reached the upstream in a tunnel');
  if (seen.answers.some(({ status }) => status === 101)) broken.push('a 101 was not expected');
  return weigh(
    { pass: asked.pass, lax: asked.lax ?? LAX, status: asked.status },
    outcome,
    answer?.status ?? 0,
    broken,
  );
}

function outcomeOf(
  asked: Judged,
  spot: Spot,
  answer: Answer | undefined,
  closed: boolean,
  own: readonly RecordedRequest[],
): Outcome {
  if (answer === undefined || answer.status === 0) return closed ? 'closed' : 'waiting';
  const { status, fields } = answer;
  if (holds(fields, MARK)) {
    const normalised = asked.readsPath && own.some(({ target }) => wasNormalised(target, spot));
    return normalised ? 'normalised' : 'forwarded';
  }
  if (status < 300) return 'answered';
  if (status < 400) return 'redirected';
  if (status <= 431 || status === 501 || status === 505) return 'refused';
  return status >= 502 && status <= 504 ? 'unavailable' : 'failed';
}

/** After a refusal, nothing may be read. After an accepted request, only what all parsers call requests. */
function canaryFaults(
  { requests = 1 }: Judged,
  outcome: Outcome,
  upstream: readonly RecordedRequest[],
): string[] {
  const canaries = upstream.filter(({ target }) => target.includes('/canary/')).length;
  const allowed = outcome === 'refused' || outcome === 'closed' ? 0 : requests - 1;
  return canaries > allowed ? ['smuggled: the canary reached the upstream'] : [];
}

function truncationFaults(upstream: readonly RecordedRequest[]): string[] {
  return upstream.some(({ complete }) => complete)
    ? ['a request that was cut short looks whole upstream']
    : [];
}

function refusalFaults(asked: Judged, { closed }: RequestSeen, own: readonly RecordedRequest[]): string[] {
  const faults: string[] = [];
  if (own.some(({ complete }) => complete)) faults.push('refused, and yet the upstream got all of it');
  if (!asked.staysOpen && !closed) faults.push('the connection stayed open after the refusal');
  return faults;
}

function forwardingFaults(
  { requests = 1, script, truncated }: Judged,
  { upstream, answers, closed }: RequestSeen,
): string[] {
  const whole = upstream.filter(({ complete }) => complete);
  const faults: string[] = [];
  // A proxy may close the connection after the first response, which visibly leaves the rest unread.
  const right = (count: number): boolean => count === requests || (closed && count >= 1 && count < requests);
  if (!script && !truncated && !right(whole.length))
    faults.push(`the upstream got ${whole.length} whole requests, not ${requests}`);
  const got = finalAnswers(answers).filter(({ fields }) => holds(fields, MARK));
  if (!script && !right(got.length)) faults.push(`the client got ${got.length} answers, not ${requests}`);
  const mixed = got.some(({ body }, at) => body !== '' && body.includes('/canary/') !== at > 0);
  if (!script && mixed) faults.push('answers out of order');
  return faults;
}

function requestFaults(
  asked: Judged,
  spot: Spot,
  ownFields: readonly string[],
  { body, complete, fields, target }: RecordedRequest,
): string[] {
  const faults: string[] = [];
  if (complete && asked.body !== undefined && body !== asked.body)
    faults.push(`the body became ${JSON.stringify(body.slice(0, 40))}`);
  for (const test of asked.withheld ?? [])
    if (holds(fields, test)) faults.push(`${test[0]} reached the upstream`);
  for (const test of asked.kept ?? [])
    if (!holds(fields, test)) faults.push(`${test[0]} was lost or changed`);
  if (asked.keepsOwnFields)
    for (const name of ownFields)
      if (!holds(fields, [name])) faults.push(`the client took away the proxy's ${name}`);
  if (asked.readsPath) faults.push(...forwardedPathFaults(target, spot));
  if (asked.query !== undefined && target.slice(target.indexOf('?') + 1) !== asked.query)
    faults.push(`the query became ${target.slice(target.indexOf('?') + 1)}`);
  return faults;
}
