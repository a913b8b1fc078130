// Facts of each version and operation: dates with extensions applied, windows unrolled, the rest as written.
import type { BrownoutRule } from '../../policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import { spellOperation } from '../../policy/lifecycle/operation-template.ts';
import { retireWhenInWords } from '../../policy/lifecycle/retire-when.ts';
import { dateInWords } from '../../policy/notation.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { effectiveSunset, successorOf } from '../../sections/schedule/redirects.ts';
import { dateFact, type Fact, membersFact, otherFacts, plainWord, type Subject, type Word, wordFact } from '../../sections/facts.ts';
import { defaultsOf, isInherited, keysWithFacts, sectionFacts } from './section-facts.ts';

const LIFE = {
  released: ({ released }) => dateFact('released', Number.isFinite(released) ? released : undefined),
  // The deprecation is its own announcement unless another date is given.
  announced: ({ announced, deprecated }) =>
    dateFact('announced', announced === deprecated ? undefined : announced),
  deprecated: ({ deprecated }) => dateFact('deprecated', deprecated),
  sunset: (version) => dateFact('sunset', effectiveSunset(version)),
  extended: ({ extended = [] }) => [membersFact('extension', extended.map(extensionWord))],
  retired: (version) =>
    dateFact('retired', version.retired === effectiveSunset(version) ? undefined : version.retired),
  forgotten: ({ forgotten }) => dateFact('forgotten', forgotten),
  after: afterFacts,
  // Where a version redirects to is its successor, unless another is named (RET-8).
  successor: (version) => {
    const successor = successorOf(version);
    return wordFact('successor', successor === undefined ? undefined : plainWord(successor));
  },
  exceptions: ({ exceptions = [] }) => [membersFact('exception', exceptions.map(exceptionWord))],
  brownouts: (version) => windowFacts(version.brownouts, version.deprecated, effectiveSunset(version)),
  freeze: ({ freeze }) => dateFact('freeze', freeze),
  retire_when: retireWhenFacts,
} satisfies Partial<Record<keyof VersionFile, (version: VersionFile) => readonly Fact[]>>;

/** Keys of the dates, and of what depends on them. */
export const LIFE_KEYS: readonly string[] = Object.keys(LIFE);
const KNOWN: readonly string[] = [...LIFE_KEYS, 'operations'];
const KNOWN_OF_OPERATION: readonly string[] = [
  'deprecated',
  'sunset',
  'after',
  'successor',
  'brownouts',
];

export function versionSubjects(file: PolicyFile, document: SourceDocument): readonly Subject[] {
  if (file.versions === 'none') return [];
  return Object.entries(file.versions).flatMap(([label, version]): readonly Subject[] => {
    const at: Path = ['versions', label];
    const operations = Object.entries(version.operations ?? {}).map(
      ([name, operation]): Subject => ({
        noun: 'operation',
        name: `${label} ${name}`,
        facts: operationFacts(operation, version, document, [...at, 'operations', name]),
      }),
    );
    return [{ noun: 'version', name: label, facts: versionFacts(version, document, at) }, ...operations];
  });
}

function versionFacts(version: VersionFile, document: SourceDocument, at: Path): readonly Fact[] {
  const known = new Set([...KNOWN, ...keysWithFacts('ofVersion')]);
  return [
    ...lifeFacts(version, document, at),
    ...sectionFacts('ofVersion', version, document, at, isAccess),
    ...otherFacts(document, at, known, defaultsOf('ofVersion')),
    ...sectionFacts('ofVersion', version, document, at, (key) => !isAccess(key) && !isInherited(key)),
  ];
}

/** The dates, and what hangs on them, of a version or of an API without versions. */
export function lifeFacts(version: VersionFile, document: SourceDocument, at: Path): readonly Fact[] {
  const dated = Object.values(LIFE).flatMap((factsOf) => factsOf(version));
  return [...dated, ...sectionFacts('ofVersion', version, document, at, isInherited)];
}

/** What an operation does not say is its version's, and is compared there. */
function operationFacts(
  operation: OperationFile,
  version: VersionFile,
  document: SourceDocument,
  at: Path,
): readonly Fact[] {
  const { deprecated, sunset, successor, after } = operation;
  const known = new Set([...KNOWN_OF_OPERATION, ...keysWithFacts('ofOperation')]);
  const leads = successor && [successor.label, successor.template && spellOperation(successor.template)];
  return [
    ...dateFact('deprecated', deprecated),
    ...dateFact('sunset', sunset),
    ...wordFact('successor', leads && plainWord(leads.filter((each) => each !== undefined).join(' '))),
    ...wordFact('after', after && plainWord(after)),
    ...otherFacts(document, at, known),
    ...sectionFacts('ofOperation', operation, document, at, isAccess),
    ...windowFacts(operation.brownouts, deprecated ?? version.deprecated, sunset ?? effectiveSunset(version)),
    ...sectionFacts('ofOperation', operation, document, at, (key) => !isAccess(key)),
  ];
}

/** Who may call is shown before the other keys that have no dates. */
function isAccess(key: string): boolean {
  return key === 'access';
}

function afterFacts(version: VersionFile): readonly Fact[] {
  const { after = 'gone' } = version;
  if (after === 'gone')
    return effectiveSunset(version) === undefined ? [] : wordFact('after', plainWord('410'));
  const unsafe = after.unsafe === undefined || after.unsafe === 308 ? '' : `, ${after.unsafe} for writes`;
  return wordFact('after', plainWord(`redirect to ${after.redirect}${unsafe}`));
}

function extensionWord({ to, announced }: NonNullable<VersionFile['extended']>[number]): Word {
  return plainWord(`to ${dateInWords(to)}, announced ${dateInWords(announced)}`);
}

function retireWhenFacts({ retire_when: rule }: VersionFile): readonly Fact[] {
  if (rule === undefined) return [];
  const otherwise = rule.onExceed === 'hold' ? ', else held' : ', else with a warning';
  return wordFact('retirement', plainWord(retireWhenInWords(rule) + otherwise));
}

function exceptionWord({ consumer, until, from }: NonNullable<VersionFile['exceptions']>[number]): Word {
  const free = from.toSorted().join(' and ');
  return plainWord(`of ${JSON.stringify(consumer)} from ${free} until ${dateInWords(until)}`);
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
