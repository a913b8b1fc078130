// What the guard of retirements makes of each version, and which of them it holds: gauges, read at scrape.
// Told by guard-report.ts; that a version is held is told by its overrides.
import type { Standing } from '../exchange/standing.ts';
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import type { Retirement } from '../policy/lifecycle/retire-when.ts';
import { gauge, type MetricRow, type Sample } from './series.ts';

const VERSION = ['api', 'version'] as const;

type Judged = Pick<VersionRules, 'api' | 'label'>;

export interface RetirementGauge {
  readonly retirementJudged: (version: Judged, verdict: Retirement['kind']) => void;
  /** api, version; 1 where little enough is called, 0 where too much; none while it is not known. */
  readonly samples: (plan: GatewayPlan) => Iterable<Sample>;
}

export function createRetirementGauge(): RetirementGauge {
  const verdicts = new Map<string, Retirement['kind']>();
  const keyOf = ({ api, label }: Judged): string => JSON.stringify([api, label]);
  return {
    retirementJudged: (version, verdict) => void verdicts.set(keyOf(version), verdict),
    samples: function* ({ apis }) {
      for (const { versions } of apis) {
        for (const version of versions.values()) {
          const verdict = version.retireWhen && verdicts.get(keyOf(version));
          if (verdict === undefined || verdict === 'unknown') continue;
          yield [[version.api, version.label], verdict === 'met' ? 1 : 0];
        }
      }
    },
  };
}

export function retirementRows(
  { samples }: Pick<RetirementGauge, 'samples'>,
  plan: () => GatewayPlan,
  standing: () => Iterable<Standing>,
): MetricRow[] {
  return [
    gauge(
      'sundial_version_retirement_held',
      'Whether the guard holds a retirement because too much is called.',
      VERSION,
      () => heldSamples(standing()),
      'primary',
    ),
    gauge(
      'sundial_version_retirement_ready',
      'Whether little enough is called for retire_when; absent while the ledger cannot tell.',
      VERSION,
      () => samples(plan()),
      'primary',
    ),
  ];
}

/** 1 while the guard holds the retirement of a version that it looks after, else 0. */
function* heldSamples(versions: Iterable<Standing>): Iterable<Sample> {
  for (const { rules, held } of versions)
    if (held !== undefined) yield [[rules.api, rules.label], held ? 1 : 0];
}
