// Where the callers of a version or operation go: what to call instead, as a mail and an event say it.
// Made of the plan; the answers of the gateway link the same place, for the very resource that was asked for.
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { Schedule } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';

export interface SuccessorCall {
  readonly label: Label;
  /** Absolute; what differs from resource to resource is left out. */
  readonly url: string;
  /** Whether the URL is that of the old version: which one is meant has to be said. */
  readonly isSamePlace: boolean;
}

/** Undefined where nothing follows, or it is not announced yet. */
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
