// Whether a response carries the body notice, and which conditional fields the upstream then receives.
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import {
  type BodyNoticeRefusal,
  type Conditions,
  mapConditions,
} from '../../policy/body-notice/conditions.ts';
import { isEdited } from '../../policy/body-notice/editable.ts';
import { type BodyNotice, createNotice } from '../../policy/body-notice/notice.ts';
import { assess } from '../../policy/lifecycle/assess.ts';
import { exceptionFrom } from '../../policy/lifecycle/exceptions.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import type { Phase } from '../../policy/lifecycle/schedule.ts';
import { dependsOnCaller } from '../answers/shareability.ts';
import type { RequestStart } from '../facts.ts';
import type { RequestView } from '../request-view.ts';
import { type Resource, successorOf } from '../successor-url.ts';
import type { JudgedRules } from './judged-rules.ts';

export interface NoticeOrder {
  /** Undefined if only the conditions of the request change. */
  readonly notice: BodyNotice | undefined;
  readonly conditions: Conditions | undefined;
}

/**
 * `whole`: the version, even if one of its operations is judged. Undefined if neither body nor conditions
 * change. A refusal if the client's copy has another notice than a new response would get (BODY-5).
 */
export function noticeOrder(
  whole: VersionRules,
  judged: JudgedRules,
  differsByCaller: boolean,
  start: RequestStart,
  { method, headers }: Pick<RequestView, 'method' | 'headers'>,
): NoticeOrder | BodyNoticeRefusal | undefined {
  const { api, version, phase } = judged;
  const own = noticeOf(api, version, phase, () => judged.successor.replacement);
  const reads = method === 'GET' || method === 'HEAD';
  const isConditional = headers.get('if-match') !== undefined || headers.get('if-none-match') !== undefined;
  const held = reads ? own : isConditional ? noticeOfReading(whole, judged, start) : undefined;
  const mapped = held && mapConditions(headers, held, reads);
  if (mapped !== undefined && 'reason' in mapped) return mapped;
  const conditions =
    reads && api.shared && dependsOnCaller({ differsByCaller, phase, version })
      ? withoutValidators(mapped)
      : mapped;
  const notice = own !== undefined && isEdited(method) ? own : undefined;
  return notice === undefined && conditions === undefined ? undefined : { notice, conditions };
}

/**
 * Removes the client's validators. After a 304, a shared cache could reuse a copy meant for other callers
 * (RFC 9111 §4.3.4).
 */
function withoutValidators(mapped: Conditions | undefined): Conditions {
  const removed = { 'if-none-match': undefined, 'if-modified-since': undefined };
  return { kind: 'conditions', replace: { ...mapped?.replace, ...removed } };
}

/**
 * Entity tags come from responses to GET. So the rules of GET determine the notice in a tag, for any
 * operation.
 */
function noticeOfReading(
  whole: VersionRules,
  { api, consumer, resource }: JudgedRules,
  start: RequestStart,
): BodyNotice | undefined {
  const { plan, now } = start;
  const operation = whole.operations?.match('GET', resource.tail);
  const rules = operation?.rules ?? whole;
  if (!rules.bodyNotice) return undefined;
  const version = assess(rules, start);
  const { phases } = exceptionFrom('sunset', version.exceptions, consumer, now) ?? version;
  const resourceRead: Resource = { ...resource, method: 'GET', captures: operation?.captures ?? [] };
  return noticeOf(
    api,
    version,
    phaseAt(phases, now),
    () => successorOf(plan, api, version, start, resourceRead).replacement,
  );
}

/** The notice, in every phase with signals. After the sunset, only requests in `mode: observe` get here. */
function noticeOf(
  { upstreamWins }: ApiPlan,
  { bodyNotice, schedule }: VersionRules,
  { stage, sunset, linksSuccessor }: Phase,
  replacement: () => string | undefined,
): BodyNotice | undefined {
  if (!bodyNotice || stage === 'planned' || stage === 'active') return undefined;
  const { guide, reason } = schedule;
  // Before the upstream answers, it is unknown whether its own header names another day.
  const shownSunset = upstreamWins ? undefined : sunset;
  return createNotice({
    sunset: shownSunset,
    replacement: linksSuccessor ? replacement() : undefined,
    guide,
    reason,
  });
}
