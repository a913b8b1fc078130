// What operators learn of the guard of retirements: an audit line for each hold, a warning a day.
// Told by admin/retirement-guard.ts, through gateway.ts.
import type { VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Hold } from '../policy/lifecycle/override.ts';
import type { Retirement } from '../policy/lifecycle/retire-when.ts';
import type { AuditState } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

export interface GuardLines {
  readonly onJudged: (version: VersionRules, retirement: Retirement) => void;
  readonly onHeld: (hold: Hold, before: Hold | undefined) => void;
  readonly onGoing: (version: VersionRules, sunset: EpochMs, usage: string) => void;
  readonly onAway: (version: VersionRules, reason: Error) => void;
  readonly onFault: (error: unknown) => void;
}

export function createGuardReport({ logger, metrics }: Pick<Telemetry, 'logger' | 'metrics'>): GuardLines {
  return {
    onJudged: (version, { kind }) => metrics.retirementJudged(version, kind),
    onHeld: (hold, before) => {
      const { api, label, author, reason } = hold;
      const audit = { action: 'hold', from: author, subject: `${api} ${label}`, by: author, why: reason };
      const states = { before: before && stateOf(before), after: stateOf(hold) };
      logger.info('a retirement is held', { api, version: label, audit: { ...audit, ...states } });
    },
    onGoing: ({ api, label }, sunset, usage) => {
      const fields = { api, version: label, expires: instantText(sunset), reason: usage };
      logger.warn('a version is still called and has its sunset all the same', fields);
    },
    onAway: ({ api, label }, { message }) => {
      logger.warn('the store is away; a retirement is not judged', { api, version: label, reason: message });
    },
    onFault: (error) => logger.error('the guard of retirements failed', { error }),
  };
}

function stateOf({ id, from, until, author, reason }: Hold): AuditState {
  return { id, from: instantText(from), until: instantText(until), by: author, why: reason };
}

function instantText(at: EpochMs): string {
  return Temporal.Instant.fromEpochMilliseconds(at).toString();
}
