// Judges what a client gets of an invalid response. A second request shows octets left over from the first.
import { type Answer, finalAnswers } from '../answers.ts';
import { holds, valuesOf } from '../field-lines.ts';
import type { Outcome, ResponseCase } from '../wire-case.ts';
import { type BothEnds, MARK, universalFaults, type Verdict, weigh } from './verdict.ts';

export interface ResponseSeen extends BothEnds {
  readonly closed: boolean;
  /** In the target of the second request. */
  readonly next: string;
}

/** Not what the rules require, but clearly no complete response. */
const LAX: readonly Outcome[] = ['forwarded', 'cut', 'unavailable', 'closed'];

export function judgeResponse(asked: ResponseCase, seen: ResponseSeen): Verdict {
  const finals = finalAnswers(seen.answers);
  const [answer, next] = finals;
  const outcome = outcomeOf(answer, seen.closed);
  const tries = seen.upstream.filter(({ target }) => !target.includes(seen.next)).length;
  const broken = universalFaults(seen);
  if (answer !== undefined && answer.status !== 0) broken.push(...answerFaults(asked, answer, outcome));
  // The proxy's own response may close the connection. The second request then has no response.
  if (next?.complete && !next.body.includes(seen.next))
    broken.push('the next request on the connection got another response');
  if (tries > (asked.tries ?? 1)) broken.push(`${tries} tries at the upstream`);
  if (seen.tunnelled !== '') broken.push('bytes of the client reached the upstream in a tunnel');
  if (seen.answers.some(({ status }) => status === 101)) broken.push('a 101 was not requested');
  return weigh(
    { pass: asked.pass, lax: asked.lax ?? LAX, status: asked.status },
    outcome,
    answer?.status ?? 0,
    broken,
  );
}

function outcomeOf(answer: Answer | undefined, closed: boolean): Outcome {
  if (answer === undefined || answer.status === 0) return closed ? 'closed' : 'waiting';
  const { status, complete, fields } = answer;
  if (holds(fields, MARK)) return complete ? 'forwarded' : closed ? 'cut' : 'waiting';
  if (status < 300) return 'answered';
  if (status < 400) return 'redirected';
  if (status < 500) return 'refused';
  return status >= 502 && status <= 504 ? 'unavailable' : 'failed';
}

function answerFaults(
  { truncated, body, withheld = [], kept = [], times = 1 }: ResponseCase,
  answer: Answer,
  outcome: Outcome,
): string[] {
  const faults: string[] = [];
  for (const test of withheld) if (holds(answer.fields, test)) faults.push(`${test[0]} reached the client`);
  if (outcome !== 'forwarded') return faults;
  if (truncated) faults.push('an answer that was cut short looks whole');
  if (body !== undefined && answer.body !== body)
    faults.push(`the body became ${JSON.stringify(answer.body.slice(0, 40))}`);
  for (const test of kept)
    if (!holds(answer.fields, test) || valuesOf(answer.fields, test[0]).length !== times)
      faults.push(`${test[0]} was lost, changed or repeated`);
  return faults;
}
