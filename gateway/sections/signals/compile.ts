// Compiles which lifecycle signals responses carry, and whether the API only observes.
import type { ApiPlan } from '../../plan/plan.ts';
import type { Settings } from '../../plan/settings.ts';
import type { PhaseOptions } from '../../policy/lifecycle/phases.ts';
import type { PolicyFile } from '../policy-file.ts';

export function compileSignals(
  file: PolicyFile,
): Pick<ApiPlan, 'mode' | 'echo' | 'upstreamWins' | 'deprecatedMaxAge'> {
  return {
    mode: file.mode ?? 'enforce',
    echo: file.echo ?? false,
    upstreamWins: file.upstream_wins ?? false,
    deprecatedMaxAge: file.deprecated_max_age && file.deprecated_max_age / 1_000,
  };
}

export function signalsOfPhases(
  { deprecation_header, warning }: PolicyFile,
  { deprecationForm }: Pick<Settings, 'deprecationForm'>,
): Pick<PhaseOptions, 'form' | 'warning'> {
  return { form: deprecation_header ?? deprecationForm, warning: warning ?? true };
}
