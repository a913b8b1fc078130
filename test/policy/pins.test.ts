// The version of an account: stored pin, creation day, first call, and the account itself.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { dayOf, parseInstant } from '../../gateway/policy/notation.ts';
import {
  accountOf,
  choosePin,
  creationDayOf,
  type Pin,
  type PinAvailability,
  type PinMove,
  ROLL_BACK_MS,
  rollBackPin,
  upgradePin,
} from '../../gateway/policy/versioning/pin.ts';
import { readEvidence } from '../../gateway/policy/versioning/readers.ts';
import type { DateMatch, Label, PinRule, Verdict } from '../../gateway/policy/versioning/resolution.ts';
import { resolveOpen, resolveVersion } from '../../gateway/policy/versioning/resolve.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const RULE: PinRule = { account: undefined, created: 'made', match: 'floor' };
const MEDIA_TYPES = [
  { before: 'application/vnd.acme.', after: '+json', parameter: undefined, plain: 'application/json' },
];

/** Each is released on its day. The first is forgotten, the second has ended, the last is planned. */
const LABELS = ['2023-01-01', '2024-09-01', '2025-09-15', '2026-06-01', '2099-01-01'];
const moment: PinAvailability = {
  now: NOW,
  isReleased: (label) => label !== '2023-01-01' && label <= '2026-11-20',
  isServed: (label) => label > '2024-09-01' && label <= '2026-11-20',
  mayAnswer: (label) => label > '2024-09-01' && label <= '2026-11-20',
  wasReleased: (label, at) => (parseInstant(label) ?? Number.POSITIVE_INFINITY) <= at,
};

const rulesOf = (match: DateMatch = 'floor', fallback?: Label) =>
  createResolutionRules({
    labels: LABELS,
    header: 'API-Version',
    mediaTypes: MEDIA_TYPES,
    default: fallback,
    pin: { ...RULE, match },
  });
const rules = rulesOf();

const pinTo = (label: Label): Pin => ({ label, origin: 'first_call', since: 0, previous: undefined });

/** `2025-09-15`, `first call 2026-06-01`, `none`. */
function chosen(created: string | undefined, match: DateMatch = 'floor', stored?: Pin, at = moment): string {
  const choice = choosePin(rulesOf(match), stored, created, at);
  if (choice.kind === 'none') return 'none';
  return choice.kind === 'first_call' ? `first call ${choice.label}` : choice.label;
}

describe('the version of an account', () => {
  it.each([
    ['the day a version was released', '2025-09-15', '2025-09-15'],
    ['the day before', '2025-09-14', '2024-09-01'],
    ['a day between two', '2026-01-31', '2025-09-15'],
    ['today', '2026-11-20', '2026-06-01'],
    ['a future day, which counts as today', '2099-06-01', '2026-06-01'],
    ['a day before any version: the oldest', '2019-12-31', '2023-01-01'],
    ['a day whose version is forgotten', '2023-05-05', '2023-01-01'],
  ])('VER-5: floor: created on %s', (_name, created, label) => expect(chosen(created)).toBe(label));

  it.each([
    ['the day a version was released', '2025-09-15', '2025-09-15'],
    ['another day', '2025-09-16', 'none'],
    ['a day before any version', '2019-12-31', 'none'],
    ['the day of a version that is only planned', '2099-01-01', 'none'],
  ])('VER-5: exact: created on %s', (_name, created, label) => expect(chosen(created, 'exact')).toBe(label));

  it('is the stored pin, for any creation day and any state of its version', () => {
    expect(chosen('2025-09-15', 'floor', pinTo('2026-06-01'))).toBe('2026-06-01');
    expect(chosen('2025-09-15', 'exact', pinTo('2024-09-01'))).toBe('2024-09-01');
    expect(chosen(undefined, 'floor', pinTo('2001-01-01'))).toBe('2001-01-01');
  });

  it('is the newest served one for an unknown account, and is stored', () => {
    expect(chosen(undefined)).toBe('first call 2026-06-01');
    expect(chosen(undefined, 'exact')).toBe('first call 2026-06-01');
  });

  it('is not stored if all versions have ended', () => {
    expect(chosen(undefined, 'floor', undefined, { ...moment, isServed: () => false })).toBe('2026-06-01');
  });

  it('does not exist before the first release', () => {
    const early = { ...moment, now: 0, isReleased: () => false, isServed: () => false };
    expect(chosen(undefined, 'floor', undefined, early)).toBe('none');
    expect(chosen('2026-01-01', 'floor', undefined, early)).toBe('none');
  });

  it('VER-5: stays the same on every later day, when newer versions appear and older ones end', () => {
    const day = fc.integer({ min: Date.UTC(2022, 0, 1), max: NOW }).map(dayOf);
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 100 * 365 }), (created, days) => {
        const later = Date.UTC(2026, 10, 20) + days * 86_400_000;
        const at = { ...moment, now: later, isReleased: () => false, isServed: () => false };
        expect(chosen(created, 'floor', undefined, at)).toBe(chosen(created));
      }),
    );
  });

  it('is never a version that was released after the creation of the account', () => {
    const late: PinAvailability = {
      ...moment,
      wasReleased: (label, at) =>
        moment.wasReleased(label, at) && (label !== '2026-06-01' || at >= Date.UTC(2026, 5, 15)),
    };
    expect(chosen('2026-06-10', 'floor', undefined, late)).toBe('2025-09-15');
    expect(chosen('2026-06-14', 'floor', undefined, late)).toBe('2025-09-15');
    expect(chosen('2026-06-15', 'floor', undefined, late)).toBe('2026-06-01');
    expect(chosen('2026-06-01', 'exact', undefined, late)).toBe('none');
  });
});

describe('a version that is released before its label’s day', () => {
  const early: PinAvailability = { ...moment, wasReleased: () => true };

  it.each<[DateMatch, string, string]>([
    ['floor', '2099-06-01', '2026-06-01'],
    ['exact', '2099-01-01', 'none'],
  ])('VER-5: %s: is not pinned for a creation day in the future', (match, created, label) => {
    expect(chosen(created, match, undefined, early)).toBe(label);
  });
});

describe('moving a pin', () => {
  const versions = { labels: LABELS.toReversed(), isServed: moment.isServed };
  const told = (move: PinMove) => (move.kind === 'refused' ? move.reason : move.next?.label);

  it.each([
    ['to a newer version', '2025-09-15', '2026-06-01', '2026-06-01'],
    ['to the same version', '2025-09-15', '2025-09-15', 'not_newer'],
    ['to an older version', '2026-06-01', '2025-09-15', 'not_newer'],
    ['to an ended version', '2023-01-01', '2024-09-01', 'version_ended'],
    ['to a version that is not released yet', '2026-06-01', '2099-01-01', 'version_ended'],
    ['to an undeclared version', '2026-06-01', '2026-07-01', 'version_unknown'],
    ['from a version that is no longer declared, to any version', '2025-12-01', '2025-09-15', '2025-09-15'],
    ['without an earlier pin, to any version', undefined, '2025-09-15', '2025-09-15'],
  ])('%s', (_what, from, to, expected) => {
    expect(told(upgradePin(from === undefined ? undefined : pinTo(from), { from, to }, versions, NOW))).toBe(
      expected,
    );
  });

  it('can be rolled back once, within 72 hours and not at their last instant', () => {
    const move = upgradePin(pinTo('2025-09-15'), { from: '2025-09-15', to: '2026-06-01' }, versions, NOW);
    if (move.kind === 'refused') throw new Error(move.reason);
    const back = (after: number) => rollBackPin(move.next, versions, NOW + after);
    expect([0, ROLL_BACK_MS - 1, ROLL_BACK_MS].map((after) => told(back(after)))).toEqual([
      '2025-09-15',
      '2025-09-15',
      'too_late',
    ]);
    const first = back(0);
    expect(told(rollBackPin(first.kind === 'moved' ? first.next : undefined, versions, NOW))).toBe(
      'nothing_to_roll_back',
    );
  });
});

describe('a pin and the version in a request', () => {
  /** `2025-09-15 by pin`, or the reason of the refusal. */
  function told(headers: Record<string, string>, pinned: Label | undefined, by = rules): string {
    const input = {
      method: 'GET',
      pathSegment: undefined,
      subdomain: undefined,
      tail: '',
      search: '',
      headers: new RecordFields(headers),
    };
    const read = resolveVersion(by, readEvidence(by, input), moment);
    const verdict: Verdict = read.kind === 'open' ? resolveOpen(by, read, moment, pinned) : read;
    return verdict.kind === 'resolved' ? `${verdict.label} by ${verdict.carrier}` : verdict.refusal.reason;
  }
  const accept = (range: string) => ({ accept: range });

  it.each<[string, Record<string, string>, Label | undefined, string]>([
    ['without a version the pin decides', {}, '2025-09-15', '2025-09-15 by pin'],
    [
      'a header overrides the pin without a conflict',
      { 'api-version': '2026-06-01' },
      '2025-09-15',
      '2026-06-01 by header',
    ],
    [
      'an unknown version never gets the pin',
      { 'api-version': '2025-01-01' },
      '2025-09-15',
      'version_unknown',
    ],
    [
      'a malformed version never gets the pin',
      { 'api-version': 'latest' },
      '2025-09-15',
      'version_malformed',
    ],
    ['with a range without a version the pin decides', accept('*/*'), '2025-09-15', '2025-09-15 by pin'],
    [
      'a media type with a version overrides the pin',
      accept('application/vnd.acme.2026-06-01+json'),
      '2025-09-15',
      '2026-06-01 by accept',
    ],
    [
      'the pin decides if the best range has no version',
      accept('application/json, application/vnd.acme.2026-06-01+json;q=0.5'),
      '2025-09-15',
      '2025-09-15 by pin',
    ],
    [
      'a pin that Accept excludes is not used',
      accept('application/vnd.acme.2025-09-15+json;q=0, */*'),
      '2025-09-15',
      '2026-06-01 by accept',
    ],
    ['a pin on a version that is no longer declared is refused', {}, '2001-01-01', 'version_unknown'],
    ['a pin on a forgotten version is refused', {}, '2023-01-01', 'version_unknown'],
    ['a pin on an unreleased version is refused', {}, '2099-01-01', 'version_unknown'],
    ['a request without pin and default is refused', {}, undefined, 'version_missing'],
    [
      'NEG-8: a request that accepts no version is refused',
      accept('*/*;q=0'),
      '2025-09-15',
      'version_unacceptable',
    ],
  ])('VER-3: %s', (_name, headers, pinned, expected) => expect(told(headers, pinned)).toBe(expected));

  it('VER-3: the default has the lowest precedence', () => {
    const by = rulesOf('exact', '2026-06-01');
    expect(told({}, '2025-09-15', by)).toBe('2025-09-15 by pin');
    expect(told({}, undefined, by)).toBe('2026-06-01 by default');
    expect(told({}, '2001-01-01', by)).toBe('version_unknown');
  });

  it('an API without pins always resolves or refuses', () => {
    const plain = createResolutionRules({ labels: LABELS, header: 'API-Version', default: undefined });
    const input = {
      method: 'GET',
      pathSegment: undefined,
      subdomain: undefined,
      tail: '',
      search: '',
      headers: new RecordFields(),
    };
    expect(resolveVersion(plain, readEvidence(plain, input), moment)).toMatchObject({ kind: 'refused' });
  });

  it('resolution never throws, and yields one declared, released version or a refusal', () => {
    const label = fc.oneof(fc.constantFrom(...LABELS), fc.string());
    const said = fc.oneof(
      label,
      label.map((text) => `application/vnd.acme.${text}+json;q=0.5, */*;q=0.5`),
    );
    const claims = fc.dictionary(fc.constantFrom('made', 'account'), fc.oneof(fc.anything(), label));
    const stored = fc.option(label.map(pinTo), { nil: undefined });
    const match = fc.constantFrom<DateMatch>('floor', 'exact');
    const header = fc.option(said, { nil: undefined });
    fc.assert(
      fc.property(claims, stored, match, header, header, (claimed, pin, by, version, accepted) => {
        const own = rulesOf(by, '2026-06-01');
        const headers = new RecordFields({ 'api-version': version, accept: accepted });
        const input = {
          method: 'GET',
          pathSegment: undefined,
          subdomain: undefined,
          tail: '',
          search: '',
          headers,
        };
        const created = creationDayOf(RULE, { id: 'acme', claims: claimed });
        const choice = choosePin(own, pin, created, moment);
        const read = resolveVersion(own, readEvidence(own, input), moment);
        const pinned = choice.kind === 'none' ? undefined : choice.label;
        const verdict = read.kind === 'open' ? resolveOpen(own, read, moment, pinned) : read;
        if (verdict.kind === 'resolved') {
          expect(LABELS).toContain(verdict.label);
          expect(moment.isReleased(verdict.label)).toBe(true);
        } else expect(verdict.refusal.reason).toMatch(/^version_/);
      }),
    );
  });
});

describe('the creation day of an account', () => {
  const dayIn = (claim: unknown) => creationDayOf(RULE, { id: 'acme', claims: { made: claim } });

  it.each<[string, unknown, string]>([
    ['a day', '2025-03-14', '2025-03-14'],
    ['an instant', '2025-03-14T23:59:59Z', '2025-03-14'],
    ['an instant with parts of a second', '2025-03-14T23:59:59.123Z', '2025-03-14'],
    ['an instant with an offset, as its day in UTC', '2025-03-15T00:30:00+01:00', '2025-03-14'],
    ['seconds since 1970', 1_741_910_400, '2025-03-14'],
    ['seconds with a part', 1_741_910_400.9, '2025-03-14'],
    ['the first second', 0, '1970-01-01'],
  ])('VER-5: is read from %s', (_name, claim, day) => expect(dayIn(claim)).toBe(day));

  it.each<[string, unknown]>([
    ['a day that does not exist', '2025-02-30'],
    ['other text', 'last year'],
    ['an empty text', ''],
    ['an instant without an offset', '2025-03-14T10:00:00'],
    ['an instant after the year 9999', '9999-12-31T23:59:59-01:00'],
    ['an instant before the year 0', '0000-01-01T00:00:00+01:00'],
    ['milliseconds', 1_741_910_400_000],
    ['a negative number', -1],
    ['NaN', Number.NaN],
    ['a list', ['2025-03-14']],
    ['null', null],
    ['full-width digits', '２０２５-03-14'],
  ])('is unknown if the claim is %s', (_name, claim) => expect(dayIn(claim)).toBeUndefined());

  it('is unknown if the claim is missing or not configured', () => {
    expect(creationDayOf(RULE, { id: 'acme', claims: {} })).toBeUndefined();
    const { account, match } = RULE;
    const unnamed = { account, match, created: undefined };
    expect(creationDayOf(unnamed, { id: 'acme', claims: { made: '2025-03-14' } })).toBeUndefined();
    expect(creationDayOf({ ...RULE, created: 'constructor' }, { id: 'acme', claims: {} })).toBeUndefined();
  });
});

describe('the account of a caller', () => {
  const byClaim: PinRule = { ...RULE, account: 'tenant' };
  const named = (claims: Record<string, unknown>) => accountOf(byClaim, { id: 'acme', claims });

  it('is the consumer by default', () => {
    expect(accountOf(RULE, { id: 'acme', claims: { tenant: 't-1' } })).toBe('acme');
    const prefixes = { own: 'partner/', others: ['main/'] };
    const caller = (tenant: string) => ({ id: 'partner/acme', claims: { tenant }, prefixes });
    expect(accountOf(byClaim, caller('t-1'))).toBe('partner/t-1');
    const others = { own: '', others: ['partner/'] };
    expect(accountOf(byClaim, { ...caller('partner/t-1'), prefixes: others })).toBeUndefined();
  });

  it('is the value of the claim, also of an integer', () => {
    expect(named({ tenant: 't-1' })).toBe('t-1');
    expect(named({ tenant: 4711 })).toBe('4711');
  });

  it.each<[string, Record<string, unknown>]>([
    ['missing', {}],
    ['empty', { tenant: '' }],
    ['not printable', { tenant: 'a\u0000b' }],
    ['longer than 256 characters', { tenant: 'a'.repeat(257) }],
    ['an object', { tenant: { id: 't-1' } }],
    ['a fraction', { tenant: 0.5 }],
    ['an integer that is not exact', { tenant: 2 ** 53 }],
  ])('is unknown if the claim is %s: the consumer does not replace it', (_name, claims) => {
    expect(named(claims)).toBeUndefined();
  });
});
