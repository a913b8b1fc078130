// The lifecycle of one API as data: its versions with stage, dates, successor and next change.
import type { ApiPlan, GatewayPlan, VersionRules } from '../../plan/plan.ts';
import { lifecycleUrl } from '../../plan/routes/reserved-paths.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { lastChanges } from '../../policy/lifecycle/announcement-changes.ts';
import { nextStageOfApi, stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { assess, type StageInput } from '../../policy/lifecycle/assess.ts';
import type { VersionLife } from '../../policy/lifecycle/calendar.ts';
import { milestoneText, milestoneTitle } from '../../policy/lifecycle/milestone-words.ts';
import { type Milestone, milestonesOf } from '../../policy/lifecycle/milestones.ts';
import { isForgotten } from '../../policy/lifecycle/retirement.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import {
  entryOf,
  instantText,
  type LifecycleEntry,
  type PublishMoment,
  type StageChange,
} from './lifecycle-entry.ts';
import { placeOf } from './places.ts';

export interface LifecycleDocument {
  readonly api: string;
  /** The stage of the version with the longest remaining life. */
  readonly stage: Stage;
  readonly next_change?: StageChange;
  readonly url: string;
  readonly calendar: string;
  readonly feed: string;
  readonly announcements: readonly ChangelogEntry[];
  readonly versions: readonly VersionEntry[];
}

export interface ChangelogEntry {
  readonly at: string;
  /** When title or text last changed. Absent if they never did. */
  readonly updated?: string;
  readonly kind: Milestone['kind'];
  readonly title: string;
  /** One sentence each. */
  readonly text: readonly string[];
}

export interface VersionEntry extends LifecycleEntry {
  readonly version: Label;
  readonly url: string;
  readonly status?: string;
  readonly service_doc?: string;
  readonly service_desc?: string;
  readonly support?: { readonly level?: string | undefined; readonly until?: string | undefined };
  readonly changelog?: string;
  /** Operations with their own dates, then operations with notes in the description. */
  readonly operations?: readonly OperationEntry[];
}

export interface OperationEntry extends LifecycleEntry {
  readonly operation: string;
  readonly introduced?: string;
  readonly breaking_changes?: readonly string[];
}

/** Includes planned versions, but no forgotten ones. */
export function lifecycleDocument(
  plan: GatewayPlan,
  api: ApiPlan,
  moment: StageInput,
  realNow: EpochMs,
): LifecycleDocument {
  const url = lifecycleUrl(plan.public, api.name);
  const assessed = [...api.versions.values()].map((version) => assess(version, moment));
  const versions = assessed.filter(({ schedule }) => !isForgotten(schedule, moment.now));
  const next = nextStageOfApi(assessed, moment.now);
  return {
    api: api.name,
    stage: stageOfApi(assessed, moment.now),
    ...(next === undefined ? {} : { next_change: { at: instantText(next.at), stage: next.stage } }),
    url,
    calendar: `${url}.ics`,
    feed: `${url}.atom`,
    announcements: changelogOf(api, moment),
    versions: versions.map((version) => versionEntry(plan, api, version, { ...moment, realNow })),
  };
}

export function knownLives(api: ApiPlan, moment: StageInput): readonly VersionLife[] {
  const assessed = [...api.versions.values()].map((version) => {
    const list = version.operations?.list.map((operation) => assess(operation, moment)) ?? [];
    return { ...assess(version, moment), operations: { list } };
  });
  return assessed.filter(({ schedule }) => !isForgotten(schedule, moment.now));
}

function changelogOf(api: ApiPlan, moment: StageInput): readonly ChangelogEntry[] {
  const changedAt = lastChanges(api.versions.values(), moment.now);
  return milestonesOf(knownLives(api, moment), moment.now).map((milestone) => {
    const { kind, at } = milestone;
    const changed = changedAt(milestone);
    return {
      at: instantText(at),
      ...(changed > at && { updated: instantText(changed) }),
      kind,
      title: milestoneTitle(milestone),
      text: milestoneText(milestone),
    };
  });
}

function versionEntry(
  plan: GatewayPlan,
  api: ApiPlan,
  version: VersionRules,
  moment: PublishMoment,
): VersionEntry {
  const { label, schedule } = version;
  const { serviceDoc, serviceDesc } = schedule;
  const { support, changelog } = version.notes ?? {};
  const operations = operationEntries(api, version, moment);
  return {
    version: label,
    url: placeOf(plan, api, label),
    ...entryOf(api, version, moment),
    ...(schedule.status === undefined ? {} : { status: schedule.status }),
    ...(serviceDoc === undefined ? {} : { service_doc: serviceDoc }),
    ...(serviceDesc === undefined ? {} : { service_desc: serviceDesc }),
    ...(support === undefined ? {} : { support: { ...support, until: instantText(support.until) } }),
    ...(changelog === undefined ? {} : { changelog }),
    ...(operations.length === 0 ? {} : { operations }),
  };
}

function operationEntries(
  api: ApiPlan,
  version: VersionRules,
  moment: PublishMoment,
): readonly OperationEntry[] {
  const { schedule, operations: table, notes } = version;
  const entries = new Map<string, OperationEntry>();
  for (const each of table?.list ?? []) {
    const rules = assess(each, moment);
    const { deprecated, sunset } = rules.schedule;
    const own = deprecated !== schedule.deprecated || sunset !== schedule.sunset;
    if (!own || rules.operation === undefined) continue;
    entries.set(rules.operation, { operation: rules.operation, ...entryOf(api, rules, moment, version) });
  }
  for (const { operation, introduced, breakingChanges } of notes?.operations ?? []) {
    const [method = '', path = ''] = operation.split(' ');
    const answering = table?.match(method, path)?.rules;
    const rules = answering === undefined ? version : assess(answering, moment);
    entries.set(operation, {
      ...(entries.get(operation) ?? { operation, ...entryOf(api, rules, moment, version) }),
      ...(introduced === undefined ? {} : { introduced: instantText(introduced) }),
      ...(breakingChanges.length === 0 ? {} : { breaking_changes: breakingChanges }),
    });
  }
  return [...entries.values()];
}
