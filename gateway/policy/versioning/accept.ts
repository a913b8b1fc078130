// `Accept`: read into preferences where a media type carries versions, rewritten for the upstream, asked for a preferred type.
import { mediaType } from '@hapi/accept';
import { type ContentType, isTypeValid } from 'content-type';
import type { Fields } from '../contract.ts';
import {
  everyValue,
  isRepeated,
  otherVersionsIn,
  parseMediaType,
  plainType,
  understoodType,
  versionIn,
} from './media-type.ts';
import { misreadIn, misspeltIn, parameterAmiss } from './misspelt-type.ts';
import type { Claim, MediaTemplate, Preference } from './resolution.ts';

interface Member {
  readonly media: ContentType;
  /** As sent, without the blanks around it. */
  readonly text: string;
}

export const NO_PREFERENCES: readonly Preference[] = [];
const NOTHING_ELSE: Preference['also'] = [];
const WEIGHT = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * NEG-1 to NEG-3: the version that each member names, in listing order. A member that misspells its version, or has an
 * invalid weight beside one, counts as an unknown version. Other members that are no media range count for nothing.
 */
export function readPreferences(templates: readonly MediaTemplate[], headers: Fields): readonly Preference[] {
  const accept = headers.get('accept');
  if (accept === undefined) return NO_PREFERENCES;
  return membersOf(accept).flatMap((member): Preference[] => {
    const { media, text } = member;
    const weight = weightOf(member);
    const named = versionIn(templates, media);
    const misspelt =
      misspeltIn(templates, media, text) ??
      misreadIn(templates, media, text) ??
      (named !== undefined && weight === undefined ? text : undefined);
    if (misspelt !== undefined) {
      const claim: Claim = { carrier: 'accept', value: misspelt };
      return [{ claim, also: NOTHING_ELSE, weight: weight ?? 1000, isAny: false }];
    }
    if (weight === undefined || !isTypeValid(media.type)) return [];
    if (named === undefined)
      return [{ claim: undefined, also: NOTHING_ELSE, weight, isAny: media.type === '*/*' }];
    const claim: Claim = { carrier: 'accept', ...named };
    const others = otherVersionsIn(templates, media, text, named);
    return [{ claim, also: others.map((value) => ({ carrier: 'accept', value })), weight, isAny: false }];
  });
}

/**
 * VER-9: the list for an upstream, which knows plain types only. Members that ask for the resolved version, as `means`
 * tells, become plain ones, those that ask for another go, the rest stays. Undefined when no member is left.
 */
export function plainAccept(
  templates: readonly MediaTemplate[],
  accept: string,
  means: (claim: Claim) => boolean,
): string | undefined {
  const kept: string[] = [];
  for (const { media, text } of membersOf(accept)) {
    if (!isTypeValid(media.type)) continue;
    // An upstream may read a version where this reader sees a misspelt one.
    if (misspeltIn(templates, media, text) !== undefined) continue;
    const version = versionIn(templates, media);
    if (version === undefined) {
      // A quoted string that never ends could hide a member from this reader and show it to the next (ORD-2).
      kept.push(text.includes('"') ? understoodType(media) : text);
    } else if ((weightOf({ media, text }) ?? 0) > 0 && means({ carrier: 'accept', ...version })) {
      kept.push(plainType(templates, media));
    }
  }
  return kept.length === 0 ? undefined : kept.join(', ');
}

/**
 * NEG-5: the form in which a client wants the resolved version, as `means` tells: of the members that name it the one
 * with the highest weight. Undefined where none does, or where a member that leaves the version open is liked better.
 */
export function wantedForm(
  templates: readonly MediaTemplate[],
  accept: string,
  means: (claim: Claim) => boolean,
): MediaTemplate | undefined {
  let best: { readonly template: MediaTemplate; readonly weight: number } | undefined;
  let open = 0;
  for (const member of membersOf(accept)) {
    const { media, text } = member;
    const weight = weightOf(member) ?? 0;
    if (weight === 0 || !isTypeValid(media.type) || misspeltIn(templates, media, text) !== undefined)
      continue;
    const template = templates.find((each) => versionIn([each], media) !== undefined);
    const version = template && versionIn([template], media);
    if (template === undefined || version === undefined) open = Math.max(open, weight);
    else if (weight > (best?.weight ?? 0) && means({ carrier: 'accept', ...version }))
      best = { template, weight };
  }
  return best === undefined || best.weight < open ? undefined : best.template;
}

/** Commas inside quotes divide nothing, empty members are skipped (NEG-1). */
function membersOf(accept: string): readonly Member[] {
  const members: Member[] = [];
  for (let start = 0; start < accept.length; ) {
    const media = parseMediaType(accept, { start });
    if (media.type !== '') members.push({ media, text: accept.slice(start, media.index).trim() });
    start = media.index + 1;
  }
  return members;
}

/** NEG-2: thousandths; undefined for an invalid weight, or for two of them. */
function weightOf({ media, text }: Member): number | undefined {
  const { q } = media.parameters;
  if (q === undefined) return parameterAmiss(text, 'q') === undefined ? 1000 : undefined;
  if (!WEIGHT.test(q)) return undefined;
  const mayHide = isRepeated(text, 'q') || text.includes('"');
  if (mayHide && (parameterAmiss(text, 'q') !== undefined || everyValue(text, 'q').length > 1))
    return undefined;
  return Math.round(Number(q) * 1000);
}

/**
 * The type of `offered` that `accept` ranks highest; the first of them when the field is absent, malformed, wants none
 * of them, or says the same of all. Only a type it spells out wins over the first (ERR-2).
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  offered: readonly [T, ...T[]],
): T {
  const [first, ...others] = offered;
  if (accept === undefined) return first;
  const spelled = accept.toLowerCase();
  // Asked of most requests: a wildcard or a type of no concern never needs the parser.
  const candidates = others.filter((type) => spelled.includes(type));
  if (candidates.length === 0) return first;
  const best = readRanking(accept, [first, ...candidates]);
  return offered.find((type) => type === best) ?? first;
}

function readRanking(accept: string, types: readonly string[]): string {
  try {
    return mediaType(accept, types).split(';', 1)[0] ?? '';
  } catch {
    // The parser throws for a malformed field; errors and pages never fail negotiation.
    return '';
  }
}
