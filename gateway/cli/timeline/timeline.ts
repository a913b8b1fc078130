// `sundial timeline`: the versions of each API on one time axis, as text, JSON or calendar events.
import { loadAll } from '../../plan/load.ts';
import type { ApiPlan, GatewayPlan, VersionRules } from '../../plan/plan.ts';
import { hasErrors, renderProblems } from '../../plan/problems.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { knownAt } from '../../policy/lifecycle/announcements.ts';
import { hasDates } from '../../policy/lifecycle/api-life.ts';
import { lifecycleEvents, renderCalendar, type VersionLife } from '../../policy/lifecycle/calendar.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import { type CommandResult, exitCodeOf } from '../command-result.ts';
import type { DatedFiles } from '../command-setting.ts';
import { nothingCalled } from '../nothing-called.ts';
import { timelineJson } from './timeline-json.ts';
import { timelineText } from './timeline-text.ts';

export interface TimelineOptions extends DatedFiles {
  /** Undefined: every API with a date. */
  readonly api: string | undefined;
  readonly format: 'text' | 'json' | 'ics';
  readonly columns: number;
}

export async function runTimeline(options: TimelineOptions): Promise<CommandResult> {
  // Loads today's files even for an earlier `--at`.
  const { plan, problems } = await loadAll({ ...options, now: Math.max(options.now, options.today) });
  if (hasErrors(problems) || plan === undefined) {
    return { exitCode: exitCodeOf(problems, false), text: renderProblems(problems, options) };
  }
  const apis = plan.apis.filter(isDated).filter(({ name }) => (options.api ?? name) === name);
  if (apis.length === 0) return { exitCode: 2, text: `sundial: ${nothingFor(options.api, plan)}\n` };
  return { exitCode: 0, text: textOf(apis, plan, options) };
}

function textOf(apis: readonly ApiPlan[], plan: GatewayPlan, options: TimelineOptions): string {
  const { format, now } = options;
  switch (format) {
    case 'text':
      return timelineText(apis, options);
    case 'json':
      return timelineJson(apis, now);
    case 'ics': {
      const host = new URL(plan.public).hostname;
      return renderCalendar(
        lifecycleEvents(
          apis.map((api) => knownLife(api, now)),
          now,
        ),
        { now, host, name: `APIs of ${host}` },
      );
    }
    default:
      return format satisfies never;
  }
}

function knownLife(
  { versions }: ApiPlan,
  now: EpochMs,
): { readonly versions: ReadonlyMap<Label, VersionLife> } {
  const known = (rules: VersionRules) => knownAt(rules, now);
  const entries = [...versions].map(
    ([label, version]) =>
      [
        label,
        { ...known(version), operations: { list: version.operations?.list.map(known) ?? [] } },
      ] as const,
  );
  return { versions: new Map(entries) };
}

function isDated({ versions }: ApiPlan): boolean {
  return [...versions.values()].some(({ schedule }) => hasDates(schedule));
}

function nothingFor(api: string | undefined, { apis }: GatewayPlan): string {
  if (api === undefined) return 'no API has dates';
  const dated = apis.filter(isDated).map(({ name }) => name);
  const isKnown = apis.some(({ name }) => name === api);
  return isKnown ? `${api} has no dates` : nothingCalled('API with dates', api, dated, 'no API has dates');
}
