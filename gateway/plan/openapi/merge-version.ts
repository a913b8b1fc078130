// Merges `info.x-lifecycle` of a description into its version of the policy (OAS-2).
import { isGuideFile } from '../../policy/lifecycle/guide.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import { parseInstant } from '../../policy/notation.ts';
import { leadsToGuide } from '../guides/guide-page.ts';
import type { Path } from '../read/document.ts';
import { valueAt } from '../read/values.ts';
import type { LocatedDay } from './description-text.ts';
import {
  disagree,
  firstDay,
  isDisordered,
  isOff,
  type MergeInput,
  mergeDay,
  policyText,
  type WrittenDay,
} from './merge-input.ts';

/** Stages after the deprecation. */
const AFTER_DEPRECATION = /^(deprecated|sunset|retired)$/i;
const AFTER_SUNSET = /^(sunset|retired)$/i;

export function mergeVersion(input: MergeInput): void {
  const { document, description, at } = input;
  const { announced, sunset } = description.api;
  const announcements: readonly Path[] = [
    [...at, 'announced'],
    [...at, 'deprecated'],
  ];
  const unannounced = announcedLater(input);
  const announcedDay = unannounced ?? firstDay(input, announcements) ?? switchedOff(input, announcements);
  // In the specification, the announcement makes a version deprecated. A policy may separate the two.
  const isOpen = announcements.every((path) => !document.has(path));
  mergeDay(
    input,
    'deprecation.announced',
    announced,
    announcedDay,
    isOpen ? [...at, 'deprecated'] : undefined,
  );
  if (!isDisordered(input, 'deprecation.announced', announced, 'deprecation.sunset', sunset)) {
    const extended = valueAt(document.value, [...at, 'extended']);
    const last = (Array.isArray(extended) ? extended : []).findLastIndex(
      (_, index) => !isLater(input, [...at, 'extended', index, 'announced']),
    );
    const extension: Path = [...at, 'extended', last, 'to'];
    const places = last < 0 ? [[...at, 'sunset']] : [extension];
    const ends = unannounced ?? firstDay(input, places) ?? switchedOff(input, places);
    const isEndless = !document.has([...at, 'extended']) || isOff(input, [...at, 'extended']);
    const open = isEndless && !document.has([...at, 'sunset']) ? [...at, 'sunset'] : undefined;
    mergeDay(input, 'deprecation.sunset', sunset, ends, open);
  }
  mergeGuide(input);
  mergeStage(input);
}

/** `null` before the announcement of the deprecation, when the description must have no date. */
function announcedLater(input: MergeInput): WrittenDay | undefined {
  const { at } = input;
  const path = [...at, 'announced'];
  if (!isLater(input, path) || !isLater(input, [...at, 'deprecated'])) return undefined;
  return { day: null, path, isEarly: true };
}

function isLater(input: MergeInput, path: Path): boolean {
  const text = policyText(input, path);
  return text !== undefined && (parseInstant(text) ?? input.now) > input.now;
}

function mergeStage(input: MergeInput): void {
  const { document, description, at } = input;
  const { announced, sunset, stage } = description.api;
  if (stage === undefined || !AFTER_DEPRECATION.test(stage.value)) return;
  // If a day is described, it has a finding of its own.
  const contradicts = (key: string, stated: LocatedDay) =>
    isOff(input, [...at, key]) && typeof stated?.value !== 'string';
  const isEnded = AFTER_SUNSET.test(stage.value);
  if (contradicts('deprecated', announced)) disagree(input, [...at, 'deprecated'], 'stage', stage);
  else if (isEnded && contradicts('sunset', sunset)) disagree(input, [...at, 'sunset'], 'stage', stage);
  if (document.has([...at, 'deprecated']) || typeof announced?.value === 'string') return;
  input.atDescription(stage.mark, {
    rule: 'description-undated',
    message: `the stage is ${stage.value} without a date, so no response has a Deprecation header`,
    hint: 'add deprecation.announced here, or deprecated to the policy',
  });
}

/** `off` in a policy means: no such day, like `null` in a description. */
function switchedOff(input: MergeInput, places: readonly Path[]): WrittenDay | undefined {
  const path = places.find((each) => isOff(input, each));
  return path && { day: null, path };
}

function mergeGuide(input: MergeInput): void {
  const { document, description, at } = input;
  const { guide } = description.api;
  if (guide === undefined) return;
  const path = [...at, 'guide'];
  const url = parsePageUrl(guide.value);
  if (!document.has(path)) {
    if (url !== undefined) input.add(path, guide);
    else
      input.atDescription(guide.mark, {
        rule: 'description-usable',
        message: 'migration-guide is not an absolute https URL, so it is not sent',
      });
    return;
  }
  const own = policyText(input, path);
  if (own !== undefined && isGuideFile(own)) {
    const api = policyText(input, ['api']) ?? '';
    if (!leadsToGuide(guide.value, own, api)) disagree(input, path, 'migration-guide', guide);
    return;
  }
  const ownUrl = own === undefined ? undefined : parsePageUrl(own);
  const differs = ownUrl === undefined ? isOff(input, path) : ownUrl !== url;
  if (differs) disagree(input, path, 'migration-guide', guide);
}
