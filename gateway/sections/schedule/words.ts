// The diff of dates and what depends on them, with extensions applied and brownouts as windows.
import type { BrownoutRule } from '../../policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import { formatOperation } from '../../policy/lifecycle/operation-template.ts';
import { retireWhenInWords } from '../../policy/lifecycle/retire-when.ts';
import { dateInWords } from '../../policy/notation.ts';
import { type ComparedValue, dateFact, type Fact, membersFact, plainValue, wordFact } from '../facts.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { Words } from '../section.ts';
import { effectiveSunset, successorOf } from './redirects.ts';

export const scheduleWords: Words = {
  ofVersion: {
    released: ({ released }) => dateFact('released', Number.isFinite(released) ? released : undefined),
    // Without another date the deprecation is its own announcement.
    announced: ({ announced, deprecated }) =>
      dateFact('announced', announced === deprecated ? undefined : announced),
    deprecated: ({ deprecated }) => dateFact('deprecated', deprecated),
    sunset: (version) => dateFact('sunset', effectiveSunset(version)),
    extended: ({ extended = [] }) => [membersFact('extension', extended.map(extensionWord))],
    retired: (version) =>
      dateFact('retired', version.retired === effectiveSunset(version) ? undefined : version.retired),
    forgotten: ({ forgotten }) => dateFact('forgotten', forgotten),
    after: afterFacts,
    // RET-8: the redirect target is the successor unless the file names another.
    successor: (version) => wordFact('successor', successorOf(version)),
    exceptions: ({ exceptions = [] }) => [membersFact('exception', exceptions.map(exceptionWord))],
    brownouts: (version) => windowFacts(version.brownouts, version.deprecated, effectiveSunset(version)),
    freeze: ({ freeze }) => dateFact('freeze', freeze),
    retire_when: retireWhenFacts,
  },
  ofOperation: {
    deprecated: ({ deprecated }) => dateFact('deprecated', deprecated),
    sunset: ({ sunset }) => dateFact('sunset', sunset),
    successor: ({ successor }) => wordFact('successor', successor && formatSuccessor(successor)),
    after: ({ after }) => wordFact('after', after),
    brownouts: ({ brownouts, deprecated, sunset, version }) =>
      windowFacts(brownouts, deprecated ?? version.deprecated, sunset ?? effectiveSunset(version)),
  },
};

function formatSuccessor({ label, template }: NonNullable<OperationFile['successor']>): string {
  const leads = [label, template && formatOperation(template)];
  return leads.filter((each) => each !== undefined).join(' ');
}

function afterFacts(version: VersionFile): readonly Fact[] {
  const { after = 'gone' } = version;
  if (after === 'gone') return effectiveSunset(version) === undefined ? [] : wordFact('after', '410');
  const unsafe = after.unsafe === undefined || after.unsafe === 308 ? '' : `, ${after.unsafe} for writes`;
  return wordFact('after', `redirect to ${after.redirect}${unsafe}`);
}

function extensionWord({ to, announced }: NonNullable<VersionFile['extended']>[number]): ComparedValue {
  return plainValue(`to ${dateInWords(to)}, announced ${dateInWords(announced)}`);
}

function retireWhenFacts({ retire_when: rule }: VersionFile): readonly Fact[] {
  if (rule === undefined) return [];
  const otherwise = rule.onExceed === 'hold' ? ', else held' : ', else with a warning';
  return wordFact('retirement', retireWhenInWords(rule) + otherwise);
}

function exceptionWord({
  consumer,
  until,
  from,
}: NonNullable<VersionFile['exceptions']>[number]): ComparedValue {
  const free = from.toSorted().join(' and ');
  return plainValue(`of ${JSON.stringify(consumer)} from ${free} until ${dateInWords(until)}`);
}

function windowFacts(
  rules: readonly BrownoutRule[] | undefined,
  deprecated: number | undefined,
  sunset: number | undefined,
): readonly Fact[] {
  const known = rules !== undefined && deprecated !== undefined && sunset !== undefined;
  const windows = known ? expandBrownouts(rules, { deprecated, sunset }) : [];
  return [{ what: 'brownout window', value: { kind: 'windows', windows } }];
}
