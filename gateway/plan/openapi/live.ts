// What a description should say of the life of its version at one instant: the dates in force, from the policy as it
// was merged. Pure; write.ts puts it into the text.
import type { EpochMs } from '../../policy/contract.ts';
import {
  type OperationTemplate,
  parseOperation,
  spellOperation,
} from '../../policy/lifecycle/operation-template.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import { parsePageUrl } from '../../policy/lifecycle/section.ts';
import { dayOf } from '../../policy/notation.ts';
import type { OperationFile, VersionFile } from '../grammar/policy-grammar.ts';
import { effectiveSunset } from '../redirects.ts';
import type { DescribedOperation, Description } from './description.ts';
import type { Said } from './description-text.ts';
import { type Around, readReplacement, sameSuccessor, writeReplacement } from './replacement.ts';
import type { Wanted } from './text-style.ts';

export interface Live extends Around {
  readonly description: Description;
  readonly version: VersionFile;
  readonly rules: OperationRules;
  readonly stage: Stage;
  readonly now: EpochMs;
}

/** The rules that a version has for the requests of a template; undefined where they are its own. */
export type OperationRules = (template: OperationTemplate) => OperationFile | undefined;

/** A rule for the method itself, else that for all methods. */
export function operationRules({ operations = {} }: VersionFile): OperationRules {
  const byRequests = new Map<string, OperationFile>();
  for (const [name, rules] of Object.entries(operations)) {
    const parsed = parseOperation(name);
    if (parsed.kind === 'operation') byRequests.set(requestsOf(parsed.template), rules);
  }
  return (template) =>
    byRequests.get(requestsOf(template)) ?? byRequests.get(requestsOf({ ...template, method: '*' }));
}

/** Parameters may be named apart. */
function requestsOf({ method, segments }: OperationTemplate): string {
  return spellOperation({
    method,
    segments: segments.map((each) => ('name' in each ? { ...each, name: '' } : each)),
  });
}

const ENDS = /^(planned|deprecated|sunset|retired)$/i;

/** `x-lifecycle` of the API. What the policy knows nothing of is left as it is. */
export function liveApi({ version, stage, description }: Live): Wanted {
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

/** Likewise one that could be taken over, and was not. */
function guideOrNull(guide: string | undefined, said: Said<string> | undefined): Wanted {
  if (guide !== undefined) return { 'migration-guide': guide };
  const isUsable = said !== undefined && parsePageUrl(said.value) !== undefined;
  return isUsable ? { 'migration-guide': null } : {};
}

/** A day that the description alone has is one that the policy has switched off: what is left open is taken over. */
function dayOrNull(key: string, at: EpochMs | undefined, said: Said<string | null> | undefined): Wanted {
  if (at !== undefined) return { [key]: dayOf(at) };
  return said === undefined ? {} : { [key]: null };
}

/** `active` is what most call stable, and many have words of their own for. */
function stageWord(stage: Stage, { stage: said }: Description['api']): string {
  if (stage !== 'active') return stage;
  return said === undefined || ENDS.test(said.value) ? 'stable' : said.value;
}

/** `deprecated` and `x-lifecycle` of one operation; undefined where nothing is known of it or it belongs to another API. */
export function liveOperation(said: DescribedOperation, live: Live): Wanted | undefined {
  const { placement, version, now } = live;
  const placed = placement.place(said.method, said.path);
  if (placed.kind === 'elsewhere') return undefined;
  const own = placed.kind === 'operation' ? live.rules(placed.template) : undefined;
  const { deprecated, sunset } = own ?? {};
  const since = Math.min(
    deprecated ?? Number.POSITIVE_INFINITY,
    version.deprecated ?? Number.POSITIVE_INFINITY,
  );
  // Somebody marked it who gave no date: that is not for us to take back.
  if (since === Number.POSITIVE_INFINITY && sunset === undefined) return undefined;
  const isDeprecated = now >= since;
  const wantsStatus = isDeprecated || (deprecated ?? sunset) !== undefined || said.status !== undefined;
  const lifecycle: Wanted = {
    ...(wantsStatus && { status: isDeprecated ? 'deprecated' : 'stable' }),
    ...dateOf('deprecation-date', deprecated, isDated(said.deprecated) ? version.deprecated : undefined),
    ...dateOf('sunset-date', sunset, isDated(said.sunset) ? effectiveSunset(version) : undefined),
    ...(placed.kind === 'operation' && replacementOf(placed.template, own, said, live)),
  };
  return {
    ...((isDeprecated || said.flag !== undefined) && { deprecated: isDeprecated }),
    ...(Object.keys(lifecycle).length > 0 && { 'x-lifecycle': lifecycle }),
  };
}

function isDated(said: Said<string | null> | undefined): boolean {
  return typeof said?.value === 'string';
}

/** Its own date; that of the version only where the description has one already, which may be out of date. */
function dateOf(key: string, own: EpochMs | undefined, inherited: EpochMs | undefined): Wanted {
  const date = own ?? inherited;
  return date === undefined ? {} : { [key]: dayOf(date) };
}

function replacementOf(
  template: OperationTemplate,
  own: OperationFile | undefined,
  said: DescribedOperation,
  live: Live,
): Wanted {
  const { successor } = own ?? {};
  if (successor === undefined) return {};
  const there = said.replacement && readReplacement(said.replacement.value, said.method, live);
  // Another way of writing the same path stays.
  if (there !== undefined && sameSuccessor(successor, template, there, live.label)) return {};
  const path = writeReplacement(successor, template, live);
  return path === undefined ? {} : { replacement: path };
}
