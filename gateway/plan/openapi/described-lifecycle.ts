// Computes the lifecycle that a description should state for its version at an instant.
import type { EpochMs } from '../../policy/contract.ts';
import { knownAt } from '../../policy/lifecycle/announcements.ts';
import { isGuideFile } from '../../policy/lifecycle/guide.ts';
import {
  formatOperation,
  type OperationTemplate,
  parseOperation,
} from '../../policy/lifecycle/operation-template.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import { dayOf } from '../../policy/notation.ts';
import type { OperationFile, PolicyFile, VersionFile, VersionParts } from '../../sections/policy-file.ts';
import { earlier, effectiveSunset } from '../../sections/schedule/redirects.ts';
import { leadsToGuide } from '../guides/guide-page.ts';
import type { VersionRules } from '../plan.ts';
import { announcedParts } from '../published/published-dates.ts';
import type { DescribedOperation, Description } from './description.ts';
import type { Located, LocatedDay } from './description-text.ts';
import { type Placement, placeIn } from './placement.ts';
import { readReplacement, sameSuccessor, writeReplacement } from './replacement.ts';
import type { Wanted } from './text-edits.ts';

export interface DescribedVersion {
  readonly description: Description;
  readonly placement: Placement;
  /** With the dates that are announced by `now`. */
  readonly version: VersionParts;
  readonly rules: OperationRules;
  readonly stage: Stage;
  readonly now: EpochMs;
}

/** The operation rules for the requests of a template. Undefined if only the version's rules apply. */
export type OperationRules = (template: OperationTemplate) => OperationFile | undefined;

/** A rule for the method takes precedence over one for all methods. */
export function operationRules({ operations = {} }: VersionParts): OperationRules {
  const byRequests = new Map<string, OperationFile>();
  for (const [name, rules] of Object.entries(operations)) {
    const parsed = parseOperation(name);
    if (parsed.kind === 'operation') byRequests.set(requestsOf(parsed.template), rules);
  }
  return (template) =>
    byRequests.get(requestsOf(template)) ?? byRequests.get(requestsOf({ ...template, method: '*' }));
}

/** The names of parameters do not matter. */
function requestsOf({ method, segments }: OperationTemplate): string {
  return formatOperation({
    method,
    segments: segments.map((each) => ('name' in each ? { ...each, name: '' } : each)),
  });
}

/** The files must have passed every check. */
export function describedVersion(
  file: PolicyFile,
  version: VersionFile,
  rules: VersionRules,
  { description, now }: { readonly description: Description; readonly now: EpochMs },
): DescribedVersion {
  const { label, phases, schedule } = knownAt(rules, now);
  return {
    description,
    placement: placeIn(file, label, description),
    version: { ...announcedParts(version, now), guide: guideOf(file, version, schedule.guide, description) },
    rules: operationRules(version),
    stage: phaseAt(phases, now).stage,
    now,
  };
}

/** The URL of the guide. If the description has another URL of the same guide, even on another host, that URL stays. */
function guideOf(
  { api }: PolicyFile,
  { guide }: VersionFile,
  url: string | undefined,
  description: Description,
): string | undefined {
  if (guide === undefined || url === undefined || !isGuideFile(guide)) return url;
  const stated = description.api.guide?.value;
  return stated !== undefined && leadsToGuide(stated, guide, api) ? stated : url;
}

const AFTER_ACTIVE = /^(planned|deprecated|sunset|retired)$/i;

/** `x-lifecycle` of the API. Other keys stay as they are. */
export function apiLifecycle({ version, stage, description }: DescribedVersion): Wanted {
  const { api } = description;
  const announced = version.announced ?? version.deprecated;
  const sunset = effectiveSunset(version);
  const deprecation: Wanted = {
    ...dayOrNull('announced', announced, api.announced),
    ...dayOrNull('sunset', sunset, api.sunset),
  };
  return {
    stage: stageWord(stage, api),
    ...(Object.keys(deprecation).length > 0 && { deprecation }),
    ...guideOrNull(version.guide, api.guide),
  };
}

/** `null` for a usable guide of the description that the policy does not have. */
function guideOrNull(guide: string | undefined, stated: Located<string> | undefined): Wanted {
  if (guide !== undefined) return { 'migration-guide': guide };
  const isUsable = stated !== undefined && parsePageUrl(stated.value) !== undefined;
  return isUsable ? { 'migration-guide': null } : {};
}

/** `null` for a day that the policy switched off or has not announced yet. */
function dayOrNull(key: string, at: EpochMs | undefined, stated: LocatedDay): Wanted {
  if (at !== undefined) return { [key]: dayOf(at) };
  return stated === undefined ? {} : { [key]: null };
}

/** Many descriptions use `stable`, or a word of their own, for active. */
function stageWord(stage: Stage, { stage: stated }: Description['api']): string {
  if (stage !== 'active') return stage;
  return stated === undefined || AFTER_ACTIVE.test(stated.value) ? 'stable' : stated.value;
}

/** `deprecated` and `x-lifecycle` of an operation. Undefined if nothing is known of it or it belongs to another API. */
export function operationLifecycle(
  stated: DescribedOperation,
  described: DescribedVersion,
): Wanted | undefined {
  const { placement, version, now } = described;
  const { api } = described.description;
  const placed = placement.place(stated.method, stated.path);
  if (placed.kind === 'elsewhere') return undefined;
  const own = placed.kind === 'operation' ? described.rules(placed.template) : undefined;
  const sunset = earlier(own?.sunset, effectiveSunset(version));
  const wanted = earlier(own?.deprecated, version.deprecated);
  // DEP-5: a deprecation after the sunset never takes effect.
  const deprecated = wanted !== undefined && wanted > (sunset ?? wanted) ? undefined : wanted;
  const isOwn = (own?.deprecated ?? own?.sunset) !== undefined;
  const isDeprecated = deprecated !== undefined && now >= deprecated;
  // An operation that is marked as deprecated without any date stays marked.
  const isDated = deprecated !== undefined || isOwn;
  const wantsStatus = isDated && (isDeprecated || isOwn || stated.status !== undefined);
  const lifecycle: Wanted = {
    ...(wantsStatus && { status: isDeprecated ? 'deprecated' : 'stable' }),
    ...dateOf('deprecation-date', deprecated, own?.deprecated, stated.deprecated, api.announced),
    ...dateOf('sunset-date', sunset, own?.sunset, stated.sunset, api.sunset),
    ...(isDated && placed.kind === 'operation' && replacementOf(placed.template, own, stated, described)),
  };
  const wants: Wanted = {
    ...(isDated && (isDeprecated || stated.flag !== undefined) && { deprecated: isDeprecated }),
    ...(Object.keys(lifecycle).length > 0 && { 'x-lifecycle': lifecycle }),
  };
  return Object.keys(wants).length > 0 ? wants : undefined;
}

/**
 * The date of the version is written only if the description has one. If the version has no date now, a date that
 * repeats that of the API is removed.
 */
function dateOf(
  key: string,
  date: EpochMs | undefined,
  own: EpochMs | undefined,
  stated: LocatedDay,
  ofApi: LocatedDay,
): Wanted {
  const isStated = typeof stated?.value === 'string';
  if (date !== undefined) return own !== undefined || isStated ? { [key]: dayOf(date) } : {};
  return isStated && stated.value === ofApi?.value ? { [key]: null } : {};
}

function replacementOf(
  template: OperationTemplate,
  own: OperationFile | undefined,
  stated: DescribedOperation,
  described: DescribedVersion,
): Wanted {
  const { successor } = own ?? {};
  if (successor === undefined) return {};
  const there =
    stated.replacement && readReplacement(stated.replacement.value, stated.method, described.placement);
  // Another spelling of the same path stays.
  if (there !== undefined && sameSuccessor(successor, template, there, described.placement.label)) return {};
  const path = writeReplacement(successor, template, described.placement);
  return path === undefined ? {} : { replacement: path };
}
