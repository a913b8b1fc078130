// How the service of an API reads paths, and what becomes of addresses in its answers.
import type { ApiPlan } from '../../plan/plan.ts';
import type { Settings } from '../../plan/settings.ts';
import { PATH_PRESETS, UNKNOWN_SERVICE } from '../../policy/paths/presets.ts';
import type { PathRules } from '../../policy/paths/rules.ts';
import type { PolicyFile } from '../policy-file.ts';
import type { PathsFile } from './grammar.ts';

export function compileRoutes(
  { paths, locations }: PolicyFile,
  settings: Pick<Settings, 'paths'>,
): Pick<ApiPlan, 'pathRules' | 'locations'> {
  return { pathRules: pathRulesOf(paths ?? settings.paths), locations: locations ?? 'map' };
}

/** The rules of a `paths` section; without a section every reading is possible. */
export function pathRulesOf(paths: PathsFile | undefined): PathRules {
  if (paths === undefined) return UNKNOWN_SERVICE;
  if (typeof paths === 'string') return PATH_PRESETS[paths];
  const base = paths.preset === undefined ? UNKNOWN_SERVICE : PATH_PRESETS[paths.preset];
  return {
    case: paths.case ?? base.case,
    parameters: paths.parameters ?? base.parameters,
    suffix: paths.suffix ?? base.suffix,
    trailingSlash: paths.trailing_slash ?? base.trailingSlash,
    encodedSlash: paths.encoded_slash ?? base.encodedSlash,
    reserved: base.reserved,
    proxy: base.proxy,
  };
}
