// Prepares a version of the plan and its description for live.ts, with the dates announced at an instant.
// The files have passed every check.
import type { EpochMs } from '../../policy/contract.ts';
import { isGuideFile } from '../../policy/lifecycle/guide.ts';
import { knownAt } from '../../policy/lifecycle/known.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import type { PolicyFile, VersionFile } from '../grammar/policy-grammar.ts';
import { leadsToGuide } from '../guides/guide-page.ts';
import type { VersionRules } from '../plan.ts';
import { announcedParts } from '../published/announced-parts.ts';
import type { Description } from './description.ts';
import { type Live, operationRules } from './live.ts';
import { placeDescription } from './placement.ts';

export function describedVersion(
  file: PolicyFile,
  version: VersionFile,
  rules: VersionRules,
  { description, now }: { readonly description: Description; readonly now: EpochMs },
): Live {
  const { label, phases, schedule } = knownAt(rules, now);
  const versionedPath = file.resolve?.map(({ path }) => path).find((path) => path !== undefined);
  const upstreamPath = file.upstreams?.[label]?.path;
  return {
    description,
    placement: placeDescription(description, { label, base: file.base, versionedPath, upstreamPath }),
    label,
    labels: typeof file.versions === 'object' ? Object.keys(file.versions) : [],
    versionedPath,
    version: { ...announcedParts(version, now), guide: guideOf(file, version, schedule.guide, description) },
    rules: operationRules(version),
    stage: phaseAt(phases, now).stage,
    now,
  };
}

/** The URL of the guide. A described URL that leads to the same file stays, also on another host. */
function guideOf(
  { api }: PolicyFile,
  { guide }: VersionFile,
  url: string | undefined,
  description: Description,
): string | undefined {
  if (guide === undefined || url === undefined || !isGuideFile(guide)) return url;
  const said = description.api.guide?.value;
  return said !== undefined && leadsToGuide(said, guide, api) ? said : url;
}
