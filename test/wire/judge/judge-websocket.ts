// Judges a WebSocket case. A tunnel requires that the upstream has switched and octets go both ways.
import { type Answer, finalAnswers } from '../answers.ts';
import { holds } from '../field-lines.ts';
import type { RecordedRequest } from '../recorded-request.ts';
import { SEEN } from '../recorder.ts';
import type { Outcome, WebsocketCase } from '../wire-case.ts';
import { type BothEnds, MARK, universalFaults, type Verdict, weigh } from './verdict.ts';

export interface WebsocketSeen extends BothEnds {
  readonly closed: boolean;
}

/** A refusal of what could be served, or service as plain HTTP, opens no tunnel. */
const LAX: readonly Outcome[] = ['refused', 'forwarded', 'unavailable', 'closed'];

export function judgeWebsocket(asked: WebsocketCase, seen: WebsocketSeen): Verdict {
  const [answer] = finalAnswers(seen.answers);
  const outcome = outcomeOf(answer, seen);
  const broken = universalFaults(seen);
  if (seen.upstream.some(({ target }) => target.includes('/canary/')))
    broken.push('bytes behind the handshake reached the upstream as a request');
  if (outcome === 'switched' && !seen.upstream.some(upgrades))
    broken.push('a tunnel without an upgrade at the upstream');
  if (outcome === 'switched' && asked.pass.includes(outcome) && !answer?.body.includes(SEEN))
    broken.push('a tunnel that carries nothing');
  if (outcome !== 'switched' && seen.tunnelled !== '') broken.push('a tunnel without a 101');
  if (outcome === 'forwarded' && seen.upstream.some(upgrades) && !asked.script)
    broken.push('an upgrade was asked of the upstream and not carried out');
  for (const { fields } of seen.upstream) {
    for (const test of asked.withheld ?? [])
      if (holds(fields, test)) broken.push(`${test[0]} reached the upstream`);
    for (const test of asked.kept ?? [])
      if (!holds(fields, test)) broken.push(`${test[0]} was lost or changed`);
  }
  for (const test of asked.answered ?? [])
    if (answer !== undefined && asked.pass.includes(outcome) && !holds(answer.fields, test))
      broken.push(`the answer has no ${test[0]}`);
  if (outcome === 'refused' && !asked.staysOpen && !seen.closed)
    broken.push('the connection stayed open after the refusal');
  return weigh(
    { pass: asked.pass, lax: asked.lax ?? LAX, status: asked.status },
    outcome,
    answer?.status ?? 0,
    broken,
  );
}

const upgrades = ({ fields }: RecordedRequest): boolean => holds(fields, ['upgrade', /websocket/i]);

function outcomeOf(answer: Answer | undefined, { closed }: WebsocketSeen): Outcome {
  if (answer === undefined || answer.status === 0) return closed ? 'closed' : 'waiting';
  const { status, fields, complete } = answer;
  if (status === 101) return 'switched';
  if (holds(fields, MARK)) return complete ? 'forwarded' : closed ? 'cut' : 'waiting';
  if (status < 300) return 'answered';
  if (status < 400) return 'redirected';
  if (status <= 431 || status === 501 || status === 505) return 'refused';
  return status >= 502 && status <= 504 ? 'unavailable' : 'failed';
}
