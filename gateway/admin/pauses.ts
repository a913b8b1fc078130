// Admin routes for pauses: list, begin, end.
import { randomBytes } from 'node:crypto';
import type { EndedAnswer, PauseAnswer, PauseBody, PausesAnswer } from '../api/admin-answers.ts';
import { type PauseRequestBody, readEndingRequest, readPauseRequest } from '../api/admin-requests.ts';
import type { ApiPlan, GatewayPlan } from '../plan/plan.ts';
import { type EpochMs, StoreUnavailable } from '../policy/contract.ts';
import { type Hold, longExpired, type Override, type OverrideStore } from '../policy/lifecycle/override.ts';
import { effectsOf, type PauseEffect } from '../policy/lifecycle/pause-effects.ts';
import { makePause, type PauseProblem } from '../policy/lifecycle/pause-rule.ts';
import type { AuditState } from '../telemetry/logs/logger.ts';
import { errorAnswer, instantText, jsonAnswer, malformedBody, storeNotYetRead } from './answers.ts';
import { type AdminRequest, type AdminRoute, type AdminWriteResult, orStoreUnavailable } from './route.ts';

export interface PausePorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  /** The real time. A pause that is over only by a moved lifecycle clock may still run on other gateways. */
  readonly wallClock: () => EpochMs;
  readonly overrides: OverrideStore;
}

const ID_BYTES = 5;
/** More than the one that a write adds, so that the backlog shrinks. Few, because the write waits for the deletions. */
const MAX_REMOVED_AT_ONCE = 10;

export function pauseRoutes(ports: PausePorts): readonly AdminRoute[] {
  return [
    { method: 'GET', path: '/-/overrides', show: () => listAnswer(ports) },
    { method: 'GET', path: '/-/pauses/{id}', show: (request) => oneAnswer(ports, request) },
    { method: 'POST', path: '/-/pauses', action: 'pause', perform: (request) => begin(ports, request) },
    {
      method: 'DELETE',
      path: '/-/pauses/{id}',
      action: 'end_pause',
      perform: (request) => end(ports, request),
    },
  ];
}

function listAnswer({ plan, now, overrides }: PausePorts) {
  const at = now();
  const { apis } = plan();
  const known = livePauses(overrides, at)
    .toSorted(byWhatTheyHold)
    .map((each) => pauseBody(each, effectsOf(each, apis), apis));
  if (known.length === 0 && !overrides.wasRead()) return storeNotYetRead('whether a pause is in force');
  return jsonAnswer(200, { now: instantText(at), overrides: known } satisfies PausesAnswer);
}

function oneAnswer({ plan, now, overrides }: PausePorts, { parameter }: AdminRequest) {
  const at = now();
  const found = livePauses(overrides, at).find(({ id }) => id === parameter('id'));
  if (found === undefined) return noSuchPause(overrides);
  const { apis } = plan();
  const pause = pauseBody(found, effectsOf(found, apis), apis);
  return jsonAnswer(200, { now: instantText(at), pause } satisfies PauseAnswer);
}

async function begin(
  { plan, now, wallClock, overrides }: PausePorts,
  { body }: AdminRequest,
): Promise<AdminWriteResult> {
  const read = readPauseRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { api, version: label, by, why } = read.value;
  const at = now();
  const until = read.value.until ?? at + (read.value.for ?? 0);
  const audit = { subject: subjectOf({ api, label }), by, why };
  const decision = makePause(
    { api, label, author: by, reason: why, from: undefined, until },
    { apis: plan().apis, now: at, id: randomBytes(ID_BYTES).toString('hex') },
  );
  if (decision.kind === 'refused') return { answer: refusedAnswer(decision.problems, read.value), audit };
  const { pause, effects } = decision;
  return orStoreUnavailable(audit, async () => {
    await overrides.put(pause);
    await removeLongOver(overrides, Math.min(at, wallClock()));
    const body: PauseAnswer = { now: instantText(at), pause: pauseBody(pause, effects, plan().apis) };
    return {
      answer: { ...jsonAnswer(201, body), headers: { location: `/-/pauses/${pause.id}` } },
      audit: { ...audit, after: auditState(pause) },
    };
  });
}

async function end(
  { plan, now, overrides }: PausePorts,
  { body, parameter }: AdminRequest,
): Promise<AdminWriteResult> {
  const read = readEndingRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const at = now();
  const id = parameter('id');
  const found = livePauses(overrides, at).find((each) => each.id === id);
  const gone = { answer: noSuchPause(overrides), audit: { ...read.value, subject: id } };
  if (found === undefined) return gone;
  const audit = { ...read.value, subject: subjectOf(found), before: auditState(found) };
  return orStoreUnavailable(audit, async () => {
    if (!(await overrides.remove(id))) return gone;
    const body: EndedAnswer = { now: instantText(at), ended: pauseBody(found, [], plan().apis) };
    return { answer: jsonAnswer(200, body), audit };
  });
}

/** Deletes overrides that expired long ago. If the store is unavailable, the next pause retries. */
async function removeLongOver(overrides: OverrideStore, now: EpochMs): Promise<void> {
  try {
    for (const { id } of longExpired(overrides.current(), now).slice(0, MAX_REMOVED_AT_ONCE))
      await overrides.remove(id);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

function livePauses(overrides: OverrideStore, now: EpochMs): readonly Override[] {
  return overrides.current().filter(({ until }) => now < until);
}

function byWhatTheyHold(a: Override, b: Override): number {
  const [one, other] = [subjectOf(a), subjectOf(b)];
  return one === other ? a.until - b.until : one < other ? -1 : 1;
}

function pauseBody(pause: Override, effects: readonly PauseEffect[], apis: readonly ApiPlan[]): PauseBody {
  return {
    id: pause.id,
    kind: pause.kind,
    api: pause.api,
    version: pause.label ?? null,
    from: instantText(pause.from),
    until: instantText(pause.until),
    by: pause.author,
    why: pause.reason,
    effects: effects.map((each) => ({ ...each, operation: each.operation ?? null })),
    ...(pause.kind === 'hold' && { renewable: isRenewable(pause, apis) }),
  };
}

/** By the current policies: the guard renews no hold if they say `warn` or have no rule. */
function isRenewable({ api, label }: Hold, apis: readonly ApiPlan[]): boolean {
  const found = apis.find(({ name }) => name === api);
  return found?.mode === 'enforce' && found.versions.get(label)?.retireWhen?.onExceed === 'hold';
}

function auditState({ id, from, until, author, reason }: Override): AuditState {
  return { id, from: instantText(from), until: instantText(until), by: author, why: reason };
}

function subjectOf({ api, label }: Pick<Override, 'api' | 'label'>): string {
  return label === undefined ? api : `${api} ${label}`;
}

/** Before the first read of the store, absence is unknown. */
function noSuchPause({ wasRead }: OverrideStore) {
  if (!wasRead()) return storeNotYetRead('whether this pause exists');
  return errorAnswer(404, 'There is no such pause, or it has ended. GET /-/overrides lists those in force.');
}

const MEMBERS: Readonly<Record<PauseProblem['field'], string>> = {
  api: 'api',
  label: 'version',
  author: 'by',
  reason: 'why',
  from: 'from',
  until: 'until',
};

/** If the request gives a duration, the problems name `for` instead of `until`. */
function refusedAnswer(problems: readonly PauseProblem[], request: Pick<PauseRequestBody, 'for'>) {
  const members = request.for === undefined ? MEMBERS : { ...MEMBERS, until: 'for' };
  const sentences = problems.map(({ field, message }) => `"${members[field]}": ${message}`);
  return errorAnswer(422, sentences.join('; '), { problems: sentences });
}
