// The retirement guard's verdict per version and its holds: gauges, audit lines, one warning a day.
import type { VersionState } from '../../exchange/version-states.ts';
import type { GatewayPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Hold } from '../../policy/lifecycle/override.ts';
import type { Retirement } from '../../policy/lifecycle/retire-when.ts';
import type { AuditState, Logger } from '../logs/logger.ts';
import { gauge, type MetricRow, type Sample, VERSION } from '../series.ts';
import { valuedSamples } from '../version-rows.ts';

type JudgedVersion = Pick<VersionRules, 'api' | 'label'>;

export interface RetirementGauge {
  readonly retirementJudged: (version: JudgedVersion, verdict: Retirement['kind']) => void;
  /** api, version. 1: few enough calls. 0: too many. Omitted while unknown. */
  readonly samples: (plan: GatewayPlan) => Iterable<Sample>;
}

export function createRetirementGauge(): RetirementGauge {
  const verdicts = new Map<string, Retirement['kind']>();
  const keyOf = ({ api, label }: JudgedVersion): string => JSON.stringify([api, label]);
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
  states: () => Iterable<VersionState>,
): MetricRow[] {
  return [
    gauge(
      'sundial_version_retirement_held',
      'Whether the retirement is held because usage exceeds retire_when: 1 or 0.',
      VERSION,
      () => valuedSamples(states(), ({ held }) => held),
      'primary',
    ),
    gauge(
      'sundial_version_retirement_ready',
      'Whether usage is below retire_when: 1 or 0. Absent while the ledger has counted too short a time.',
      VERSION,
      () => samples(plan()),
      'primary',
    ),
  ];
}

export function createGuardReport({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics: Pick<RetirementGauge, 'retirementJudged'>;
}) {
  return {
    onJudged: (version: VersionRules, { kind }: Retirement) => metrics.retirementJudged(version, kind),
    onHeld: (hold: Hold, before: Hold | undefined) => {
      const { api, label, author, reason } = hold;
      const audit = { action: 'hold', from: author, subject: `${api} ${label}`, by: author, why: reason };
      const states = { before: before && stateOf(before), after: stateOf(hold) };
      logger.info('a retirement is held', { api, version: label, audit: { ...audit, ...states } });
    },
    onGoing: ({ api, label }: JudgedVersion, sunset: EpochMs, usage: string) => {
      const fields = { api, version: label, expires: instantText(sunset), reason: usage };
      logger.warn('a version ends at its sunset although usage exceeds retire_when', fields);
    },
    onAway: ({ api, label }: JudgedVersion, { message }: Error) => {
      const fields = { api, version: label, reason: message };
      logger.warn('the store is unavailable; a retirement is not judged', fields);
    },
    onFault: (error: unknown) => logger.error('checking retire_when failed', { error }),
  };
}

function stateOf({ id, from, until, author, reason }: Hold): AuditState {
  return { id, from: instantText(from), until: instantText(until), by: author, why: reason };
}

function instantText(at: EpochMs): string {
  return Temporal.Instant.fromEpochMilliseconds(at).toString();
}
