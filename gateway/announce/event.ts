// Converts a notice to the event that the webhooks service delivers, and finds what to call instead.
import { createHash } from 'node:crypto';
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { isUnversioned } from '../policy/lifecycle/api-life.ts';
import type { Schedule } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import { kindOf, type Notice, type NoticeKind } from './notices.ts';

export interface VersionEvent {
  /** Equal for the same notice, on every gateway and after every restart. */
  readonly id: string;
  readonly type: `version.${NoticeKind}`;
  /** Seconds since 1970, by the lifecycle clock. */
  readonly created: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Instants are RFC 3339. Unknown facts are absent. */
export function eventOf(plan: Pick<GatewayPlan, 'public'>, notice: Notice): VersionEvent {
  const { id, milestone, rules } = notice;
  const { schedule } = milestone.life;
  const instead = successorCall(plan, rules, schedule);
  const data = {
    api: rules.api,
    version: isUnversioned(schedule) ? undefined : rules.label,
    operation: rules.operation,
    notice: id,
    deprecated: instantText(schedule.deprecated),
    sunset: instantText(schedule.sunset),
    retired: instantText(schedule.retired),
    ...detailsOf(milestone),
    successor: instead && { version: instead.label, url: instead.url },
    guide: schedule.guide,
  };
  return {
    id: eventId(id),
    type: `version.${kindOf(notice)}`,
    created: Math.floor(milestone.at / 1_000),
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)),
  };
}

/** Letters and digits for any API name: it becomes `webhook-id`, which is signed between dots (WH-3). */
function eventId(notice: string): string {
  return `evt_${createHash('sha256').update(notice).digest('hex').slice(0, 32)}`;
}

function detailsOf(milestone: Notice['milestone']): Readonly<Record<string, unknown>> {
  switch (milestone.kind) {
    case 'brownouts': {
      const { from, until, count } = milestone;
      return { brownouts: { from: instantText(from), until: instantText(until), count } };
    }
    case 'extension':
      return { sunset: instantText(milestone.to), previous_sunset: instantText(milestone.from) };
    case 'approaching':
      return { days: milestone.days };
    case 'deprecation':
    case 'sunset':
    case 'retired':
      return {};
    default:
      return milestone satisfies never;
  }
}

function instantText(at: EpochMs | undefined): string | undefined {
  if (at === undefined || !Number.isFinite(at)) return undefined;
  return Temporal.Instant.fromEpochMilliseconds(at).toString();
}

interface SuccessorCall {
  readonly label: Label;
  /** Absolute, without the part that depends on the resource. */
  readonly url: string;
  /** Both versions have this URL, so the request must name the version. */
  readonly isSamePlace: boolean;
}

/** Undefined if there is no announced successor. Responses link the same place for the requested resource. */
export function successorCall(
  plan: Pick<GatewayPlan, 'public'>,
  rules: VersionRules,
  { successor: label }: Pick<Schedule, 'successor'>,
): SuccessorCall | undefined {
  const first = rules.redirects[0];
  const path = rules.successorPath ?? first?.path;
  if (path === undefined || label === undefined) return undefined;
  const tail = rules.successorPath === undefined ? first?.tail : rules.successorTail;
  const fixed = (tail ?? []).every((part) => typeof part === 'string') ? (tail ?? []).join('') : '';
  return {
    label,
    url: (/^https?:/.test(path) ? path : plan.public + path) + fixed,
    isSamePlace: path === rules.place && fixed === '' && label !== rules.label,
  };
}

/** `Call https://api.example.com/api/v2/orders instead, and name the version v2.` */
export function successorSentence({ label, url, isSamePlace }: SuccessorCall): string {
  const named = isSamePlace ? `, and name the version ${label}` : '';
  return `Call ${url} instead${named}.`;
}
