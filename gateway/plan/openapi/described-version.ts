// A version of the plan beside the description it names: what live.ts needs to say how things stand.
// Made for `sundial openapi` from files that passed every check.
import type { EpochMs } from '../../policy/contract.ts';
import { isGuideFile } from '../../policy/lifecycle/guide.ts';
import type { PolicyFile, VersionFile } from '../grammar/policy-grammar.ts';
import { leadsToGuide } from '../guides/guide-page.ts';
import type { VersionRules } from '../plan.ts';
import type { Description } from './description.ts';
import { type Live, operationRules } from './live.ts';
import { placeDescription } from './placement.ts';

export function describedVersion(
  file: PolicyFile,
  version: VersionFile,
  { label, phases, schedule }: VersionRules,
  { description, now }: { readonly description: Description; readonly now: EpochMs },
): Live {
  const versionedPath = file.resolve?.map(({ path }) => path).find((path) => path !== undefined);
  const upstreamPath = file.upstreams?.[label]?.path;
  const stage = phases.find(({ from, until }) => from <= now && now < until)?.stage ?? 'active';
  return {
    description,
    placement: placeDescription(description, { label, base: file.base, versionedPath, upstreamPath }),
    label,
    labels: typeof file.versions === 'object' ? Object.keys(file.versions) : [],
    versionedPath,
    version: { ...version, ...guideOf(file, version, schedule.guide, description) },
    rules: operationRules(version),
    stage,
    now,
  };
}

/** A file is told of by the URL at which callers read it; one that leads there already stays, whatever its host. */
function guideOf(
  { api }: PolicyFile,
  { guide }: VersionFile,
  url: string | undefined,
  description: Description,
): Pick<VersionFile, 'guide'> {
  if (guide === undefined || url === undefined || !isGuideFile(guide)) return {};
  const said = description.api.guide?.value;
  return { guide: said !== undefined && leadsToGuide(said, guide, api) ? said : url };
}
