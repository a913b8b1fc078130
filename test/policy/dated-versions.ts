// A version with every date, one with none, and their phases, for tests.
import { createPhases } from '../../gateway/policy/lifecycle/phases.ts';
import type { DeprecationForm, Phase, Schedule, Stage } from '../../gateway/policy/lifecycle/schedule.ts';

export const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
export const day = (text: string) => at(`${text}T00:00:00Z`);

export const schedule: Schedule = {
  released: day('2024-06-01'),
  deprecated: day('2025-06-01'),
  sunset: day('2026-06-01'),
  retired: day('2026-12-01'),
  forgotten: undefined,
  successor: 'v2',
  guide: 'https://dev.example.com/migrate/v2',
  status: 'https://status.example.com/v1',
  reason: undefined,
  after: { kind: 'gone' },
};

export const bare: Schedule = {
  ...schedule,
  deprecated: undefined,
  sunset: undefined,
  retired: undefined,
  successor: undefined,
  guide: undefined,
  status: undefined,
};

export const options = { label: 'v1', form: 'rfc9745', warning: true } as const;

export function phase(changes: Partial<Schedule>, stage: Stage, form: DeprecationForm = 'rfc9745'): Phase {
  const found = createPhases({ ...schedule, ...changes }, { ...options, form }).find(
    (each) => each.stage === stage,
  );
  if (found === undefined) throw new Error(`no ${stage} phase`);
  return found;
}
