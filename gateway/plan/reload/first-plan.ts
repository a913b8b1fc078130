// Makes the plan of a start from the files, or from the last accepted form of APIs with a refused file.

import { atOnce } from '../../system/time-slices.ts';
import { checkContextOf } from '../check/views.ts';
import { planSteps } from '../compile/plan.ts';
import { hasPlan, type LoadedSettings } from '../load.ts';
import type { LoadOptions, Policies } from '../load-documents.ts';
import { createPolicyReader } from '../loader-thread/policy-reader.ts';
import type { GatewayPlan } from '../plan.ts';
import { hasErrors, type Problem, sortProblems } from '../problems.ts';
import { isAboutPublished, rewrittenIn } from '../published/comparison.ts';
import type { PublishedHistory } from '../published/history.ts';
import type { Settings } from '../settings.ts';
import { makeNextPlan } from './next-plan.ts';
import { keepsFiles, type PlanPiece } from './pieces.ts';
import type { Quarantined } from './settle.ts';
import { judge } from './verdict.ts';

export interface FirstPlan {
  readonly revision: string;
  readonly rewritten: readonly Problem[];
  readonly pieces: readonly PlanPiece[];
  /** If any file is quarantined, a reload also checks each file separately. */
  readonly quarantined: readonly Quarantined[];
  /** Undefined if a reload must check the files again. */
  readonly asRead: FilesAsRead | undefined;
}

/** The result that a reload has as long as the files have not changed since the start. */
export interface FilesAsRead extends Pick<Policies, 'problems' | 'descriptions'> {
  readonly isCurrent: () => Promise<boolean>;
}

export type FirstLoad =
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'plan';
      readonly plan: GatewayPlan;
      readonly first: FirstPlan;
      /** With errors if a file is quarantined. */
      readonly problems: readonly Problem[];
      /** Call it when the plan is in force. */
      readonly record: () => Promise<void>;
    };

export function emptyPlan(settings: Settings): GatewayPlan {
  return atOnce(planSteps({ settings, apis: [], revision: settings.revision }));
}

export async function firstPlan(
  loaded: LoadedSettings,
  history: PublishedHistory,
  options: LoadOptions,
): Promise<FirstLoad> {
  const { settings, gateway } = loaded;
  let { problems } = loaded;
  if (hasPlan(loaded)) {
    const { policies, plan, pieces, isCurrent } = loaded;
    const found = await rewrittenIn(policies, history, { ...options, public: settings.public });
    problems = sortProblems([...problems, ...found.problems]);
    if (!hasErrors(problems)) {
      const { descriptions } = policies;
      const asRead = {
        ...{ descriptions, isCurrent },
        problems: sortProblems([...policies.problems, ...found.problems]),
      };
      return {
        kind: 'plan',
        plan,
        first: { revision: plan.revision, rewritten: found.problems, pieces, quarantined: [], asRead },
        problems,
        record: () => history.record(policies.files, policies.files, found.former),
      };
    }
  }
  if (settings.start === 'strict') return { kind: 'rejected', problems };
  const reader = createPolicyReader({
    ...options,
    cwd: options.cwd ?? process.cwd(),
    settingsRevision: settings.revision,
    patterns: settings.policies,
    checkContext: checkContextOf(settings),
  });
  const summary = await reader.read(options.now);
  const partial = settings.start === 'partial';
  const judgeOptions = { now: options.now, history, standsIn: true, partial, isStart: true };
  const verdict = await judge(reader, summary, judgeOptions);
  problems = sortProblems([...gateway.problems, ...verdict.problems]);
  if (verdict.kind === 'refused') return { kind: 'rejected', problems };
  const next = await makeNextPlan(reader, verdict, [], { settings, keepsFiles: keepsFiles(settings) });
  const { revision, quarantined } = verdict;
  const files = next.pieces.flatMap((piece) => piece.files);
  return {
    kind: 'plan',
    plan: next.plan,
    first: {
      ...{ revision, quarantined, pieces: next.pieces },
      ...{ rewritten: verdict.problems.filter(isAboutPublished), asRead: undefined },
    },
    problems,
    record: () => history.record(summary, files, verdict.former, verdict),
  };
}
