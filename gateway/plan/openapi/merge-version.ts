// Merges `info.x-lifecycle` of a description into its version of the policy (OAS-2).
import { isGuideFile } from '../../policy/lifecycle/guide.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import { parseInstant } from '../../policy/notation.ts';
import { leadsToGuide } from '../guides/guide-page.ts';
import type { Path } from '../read/document.ts';
import { valueAt } from '../read/values.ts';
import type { SaidDay } from './description-text.ts';
import {
  disagree,
  firstDay,
  isDisordered,
  isOff,
  type Merging,
  mergeDay,
  policyText,
  type WrittenDay,
} from './merging.ts';

/** Stages after the deprecation. */
const ENDING = /^(deprecated|sunset|retired)$/i;
const ENDED = /^(sunset|retired)$/i;

export function mergeVersion(merging: Merging): void {
  const { document, description, at } = merging;
  const { announced, sunset } = description.api;
  const announcements: readonly Path[] = [
    [...at, 'announced'],
    [...at, 'deprecated'],
  ];
  const unannounced = announcedLater(merging);
  const told = unannounced ?? firstDay(merging, announcements) ?? switchedOff(merging, announcements);
  // In the specification, the announcement makes a version deprecated. A policy may separate the two.
  const isOpen = announcements.every((path) => !document.has(path));
  mergeDay(merging, 'deprecation.announced', announced, told, isOpen ? [...at, 'deprecated'] : undefined);
  if (!isDisordered(merging, 'deprecation.announced', announced, 'deprecation.sunset', sunset)) {
    const extended = valueAt(document.value, [...at, 'extended']);
    const last = (Array.isArray(extended) ? extended : []).findLastIndex(
      (_, index) => !isLater(merging, [...at, 'extended', index, 'announced']),
    );
    const extension: Path = [...at, 'extended', last, 'to'];
    const places = last < 0 ? [[...at, 'sunset']] : [extension];
    const ends = unannounced ?? firstDay(merging, places) ?? switchedOff(merging, places);
    const isEndless = !document.has([...at, 'extended']) || isOff(merging, [...at, 'extended']);
    const open = isEndless && !document.has([...at, 'sunset']) ? [...at, 'sunset'] : undefined;
    mergeDay(merging, 'deprecation.sunset', sunset, ends, open);
  }
  mergeGuide(merging);
  mergeStage(merging);
}

/** Before the announcement, the description must have no date. */
function announcedLater(merging: Merging): WrittenDay | undefined {
  const { at } = merging;
  const path = [...at, 'announced'];
  if (!isLater(merging, path) || !isLater(merging, [...at, 'deprecated'])) return undefined;
  return { day: null, path, isEarly: true };
}

function isLater(merging: Merging, path: Path): boolean {
  const text = policyText(merging, path);
  return text !== undefined && (parseInstant(text) ?? merging.now) > merging.now;
}

function mergeStage(merging: Merging): void {
  const { document, description, at } = merging;
  const { announced, sunset, stage } = description.api;
  if (stage === undefined || !ENDING.test(stage.value)) return;
  // If a day is described, it has a finding of its own.
  const denies = (key: string, said: SaidDay) =>
    isOff(merging, [...at, key]) && typeof said?.value !== 'string';
  const isEnded = ENDED.test(stage.value);
  if (denies('deprecated', announced)) disagree(merging, [...at, 'deprecated'], 'stage', stage);
  else if (isEnded && denies('sunset', sunset)) disagree(merging, [...at, 'sunset'], 'stage', stage);
  if (document.has([...at, 'deprecated']) || typeof announced?.value === 'string') return;
  merging.atDescription(stage.mark, {
    rule: 'description-undated',
    message: `the stage is ${stage.value}, and nothing says since when: no answer carries Deprecation`,
    hint: 'add deprecation.announced here, or deprecated to the policy',
  });
}

/** `off` in a policy means: no such day, like `null` in a description. */
function switchedOff(merging: Merging, places: readonly Path[]): WrittenDay | undefined {
  const path = places.find((each) => isOff(merging, each));
  return path && { day: null, path };
}

function mergeGuide(merging: Merging): void {
  const { document, description, at } = merging;
  const { guide } = description.api;
  if (guide === undefined) return;
  const path = [...at, 'guide'];
  const url = parsePageUrl(guide.value);
  if (!document.has(path)) {
    if (url !== undefined) merging.borrow(path, guide);
    else
      merging.atDescription(guide.mark, {
        rule: 'description-usable',
        message: 'migration-guide is not an absolute https URL, and is not sent',
      });
    return;
  }
  const own = policyText(merging, path);
  if (own !== undefined && isGuideFile(own)) {
    const api = policyText(merging, ['api']) ?? '';
    if (!leadsToGuide(guide.value, own, api)) disagree(merging, path, 'migration-guide', guide);
    return;
  }
  const ownUrl = own === undefined ? undefined : parsePageUrl(own);
  const differs = ownUrl === undefined ? isOff(merging, path) : ownUrl !== url;
  if (differs) disagree(merging, path, 'migration-guide', guide);
}
