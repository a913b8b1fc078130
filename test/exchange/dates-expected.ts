// The output that dates-model.ts expects of each view, in the form that dates-views.ts parses.
import {
  answerAt,
  type Case,
  type Dates,
  datesAt,
  instantsOf,
  isForgotten,
  partDatesAt,
  stageAt,
} from './dates-model.ts';

export type Subject = 'version' | 'operation';
export type Both = Readonly<Record<Subject, Dates>>;

const DAY = 86_400_000;
/** Cached, because each date occurs in many views. */
const written = new Map<number, string>();
const iso = (at: number): string =>
  written.getOrInsertComputed(at, () => Temporal.Instant.fromEpochMilliseconds(at).toString());
const short = (at: number) => iso(at).replace('T00:00:00Z', '');
const maybe = (at: number | undefined) => (at === undefined ? undefined : iso(at));
const compact = (at: number) =>
  (at % DAY === 0 ? iso(at).slice(0, 10) : `${iso(at).slice(0, 19)}Z`).replaceAll(/[-:]/g, '');
const isOpen = (dates: Dates, now: number) =>
  stageAt(dates, now) !== 'sunset' && stageAt(dates, now) !== 'retired';

const datesOf = (drawn: Case, subject: Subject, now: number) =>
  subject === 'version' ? datesAt(drawn, now) : partDatesAt(drawn, now);

export function endWords(dates: Dates, now: number): string {
  const { sunset = 0, retired = sunset } = dates;
  return stageAt(dates, now) === 'sunset' ? `sunset ${short(sunset)}` : `retired ${short(retired)}`;
}

/** The stage in words and its day. */
export function wordsIn(body: string): string {
  const [, word = '', on = ''] = /(sunset|retired) on (\S+?)\.(?: |")/.exec(body) ?? [];
  return `${word} ${on}`;
}

/** The complete response, also for an unknown version. */
function responseAt(drawn: Case, subject: Subject, now: number): string {
  const whole = datesAt(drawn, now);
  if (isForgotten(whole, now) || stageAt(whole, now) === 'planned') return 'unknown';
  const dates = datesOf(drawn, subject, now);
  const links = stageAt(dates, now) === 'active' ? [] : [dates.successor, dates.guide];
  return JSON.stringify([answerAt(drawn, dates, now), links]);
}

export function nextAnswer(drawn: Case, subject: Subject): number | undefined {
  const { now, life, part } = drawn;
  const response = responseAt(drawn, subject, now);
  return instantsOf(life, part).find((at) => at > now && responseAt(drawn, subject, at) !== response);
}

/** The instant after which a response must not be reused. */
export function nextChange(drawn: Case, subject: Subject): number {
  return Math.min(nextAnswer(drawn, subject) ?? Number.POSITIVE_INFINITY, nextAnnounced(drawn, subject));
}

export function nextAnnounced({ life, part, now }: Case, subject?: Subject): number {
  const { announced, deprecated, extended, brownouts } = life;
  const own = subject === 'version' ? [] : (part.brownouts ?? []);
  const all = [...extended, ...brownouts, ...own].map((each) => each.announced);
  if (announced !== undefined && deprecated !== undefined) all.push(Math.min(announced, deprecated));
  return Math.min(Number.POSITIVE_INFINITY, ...all.filter((at) => at > now));
}

export function explained(dates: Dates, now: number): string {
  const { deprecated, sunset } = dates;
  const words = [
    ...(deprecated === undefined
      ? []
      : [`deprecated ${deprecated <= now ? 'since' : 'from'} ${short(deprecated)}`]),
    ...(sunset === undefined ? [] : [`sunset ${short(sunset)}`]),
  ];
  return `${stageAt(dates, now)}: ${words.join(', ')}`;
}

function nextStage(dates: Dates, now: number): string | undefined {
  const { released, deprecated, sunset, retired } = dates;
  const stage = stageAt(dates, now);
  const instants = [released, deprecated, sunset, retired].filter((at) => at !== undefined);
  const next = instants.sort((a, b) => a - b).find((at) => at > now && stageAt(dates, at) !== stage);
  return next === undefined ? undefined : `${stageAt(dates, next)} ${iso(next)}`;
}

/** An operation has an entry if its dates differ from its version's. */
function hasEntry({ version, operation }: Both): boolean {
  return version.deprecated !== operation.deprecated || version.sunset !== operation.sunset;
}

function entry(dates: Dates, now: number, windows: Dates['windows']) {
  const { deprecated, sunset, retired } = dates;
  const listed = isOpen(dates, now) ? windows.filter(([, until]) => until > now) : [];
  return {
    stage: stageAt(dates, now),
    deprecated: maybe(deprecated),
    sunset: maybe(sunset),
    retired: maybe(retired),
    next: nextStage(dates, now),
    successor: dates.successor,
    guide: dates.guide,
    brownouts: listed.map(([from, until]) => `${iso(from)} ${iso(until)}`),
  };
}

function entries({ now, part }: Case, both: Both) {
  const own = part.brownouts === undefined ? [] : both.operation.windows;
  return {
    version: isForgotten(both.version, now) ? undefined : entry(both.version, now, both.version.windows),
    operation:
      isForgotten(both.version, now) || !hasEntry(both) ? undefined : entry(both.operation, now, own),
  };
}

export function json(drawn: Case, both: Both) {
  const stage = drawn.accompanied ? 'active' : stageAt(both.version, drawn.now);
  return { stage, ...entries(drawn, both), freshUntil: undefined };
}

export function html(drawn: Case, both: Both) {
  const { version, operation } = entries(drawn, both);
  const row = (each: typeof version) => {
    if (each === undefined) return undefined;
    const { brownouts, ...rest } = each;
    return { ...rest, brownout: brownouts[0]?.split(' ')[0] };
  };
  return { version: row(version), operation: row(operation) };
}

const KINDS = ['released', 'deprecated', 'sunset', 'retired'] as const;

export function calendar(both: Both, now: number): readonly string[] {
  if (isForgotten(both.version, now)) return [];
  const events: string[] = [];
  for (const [name, dates] of named(both)) {
    for (const kind of KINDS) {
      const at = dates[kind];
      const isShared = dates === both.operation && at === both.version[kind];
      if (at === undefined || isShared || (kind === 'retired' && at === dates.sunset)) continue;
      events.push(`${name} ${kind} ${compact(at)}`);
    }
    if (dates.inherits) continue;
    for (const [from, until] of dates.windows)
      if (until > now) events.push(`${name} brownout ${compact(from)}`);
  }
  return events.sort();
}

const named = ({ version, operation }: Both) =>
  [
    ['orders v1', version],
    ['orders v1 GET /old', operation],
  ] as const;

interface Milestone {
  readonly kind: 'released' | 'deprecated' | 'brownout_scheduled' | 'sunset_extended' | 'sunset' | 'retired';
  readonly title: string;
  readonly operation: string | undefined;
  readonly sunset: number | undefined;
  readonly advice: string;
  /** Its index within its kind, and the rest of its text. */
  readonly place: number;
  readonly text: string;
}

/** Whether responses of the next version link this one as predecessor. */
export function isPredecessor(dates: Dates, now: number): boolean {
  const stage = stageAt(dates, now);
  return dates.successor !== undefined && (stage === 'active' || stage === 'deprecated');
}

function milestones({ life, now }: Case, both: Both): readonly Milestone[] {
  if (isForgotten(both.version, now)) return [];
  const found: Milestone[] = [];
  for (const [name, dates] of named(both)) {
    const { released, announced, deprecated, sunset, retired, windows } = dates;
    const operation = dates === both.operation ? 'GET /old' : undefined;
    const within = operation === undefined ? undefined : both.version;
    const advice = `${dates.successor ?? ''} ${dates.guide ?? ''}`;
    const add = (kind: Milestone['kind'], title: string, to = sunset, place = 0, text = '') =>
      found.push({ kind, title: `${name} ${title}`, operation, sunset: to, advice, place, text });
    if (released !== within?.released && released <= now) add('released', 'is released');
    if (deprecated !== undefined && deprecated !== within?.deprecated)
      if (Math.min(announced ?? deprecated, deprecated) <= now)
        add('deprecated', `is deprecated from ${short(deprecated)}`, sunset, 0, endOf(operation, sunset));
    if (!dates.inherits)
      for (const [from, until, rule] of windows) {
        const title = `will refuse requests for short times from ${short(from)}`;
        add('brownout_scheduled', title, sunset, rule, iso(until));
      }
    const known =
      operation === undefined && sunset !== undefined
        ? life.extended.filter((each) => each.announced <= now)
        : [];
    for (const [index, { to }] of known.entries())
      add(
        'sunset_extended',
        `ends on ${short(to)}, not on ${short(known[index - 1]?.to ?? life.sunset ?? 0)}`,
        to,
        index,
      );
    if (sunset !== undefined && sunset !== within?.sunset && sunset <= now) add('sunset', 'has ended');
    if (retired !== undefined && retired !== sunset && retired !== within?.retired && retired <= now)
      add('retired', 'is retired');
  }
  return found;
}

/** A version's entry keeps the sunset first published. An operation has its own. */
function endOf(operation: string | undefined, sunset: number | undefined): string {
  return operation === undefined ? '' : String(sunset);
}

/** The announcements, each with the day of its last change. */
export function feed(drawn: Case): readonly string[] {
  const { life, part, now } = drawn;
  const changed = new Map<string, { readonly content: string; readonly at: number }>();
  let last: readonly string[] = [];
  for (const at of [...instantsOf(life, part).filter((each) => each < now), now]) {
    const both = { version: datesAt(drawn, at), operation: partDatesAt(drawn, at) };
    last = milestones({ ...drawn, now: at }, both).map(({ kind, operation, place, title, text, advice }) => {
      const key = [kind, operation, place].join(' ');
      const content = [title, text, kind === 'released' ? '' : advice].join(' ');
      const since = changed.get(key);
      if (since?.content !== content) changed.set(key, { content, at });
      return `${title} ${short(changed.get(key)?.at ?? at)}`;
    });
  }
  return last.toSorted();
}

/** The due notices. Releases are not announced to callers. */
export function notices(drawn: Case, both: Both) {
  const announced = milestones(drawn, both).filter(({ kind }) => kind !== 'released');
  return announced
    .map(({ kind, operation, sunset, advice }) =>
      [`version.${kind}`, operation ?? '', maybe(sunset) ?? '', advice].join(' '),
    )
    .sort();
}

export function catalog(version: Dates, now: number) {
  const stage = stageAt(version, now);
  return { listed: stage === 'active' || stage === 'deprecated', deprecated: stage === 'deprecated' };
}

export function timeline(dates: Dates, now: number) {
  const { deprecated, sunset, retired, forgotten } = dates;
  const shown = (at: number | undefined) => (at === undefined ? undefined : short(at));
  return {
    stage: stageAt(dates, now),
    deprecated: shown(deprecated),
    sunset: shown(sunset),
    retired: shown(retired === sunset ? undefined : retired),
    forgotten: shown(forgotten),
  };
}

export function timelineDocument({ version, operation }: Both, now: number) {
  const of = (dates: Dates) => {
    const [deprecated, sunset] = [maybe(dates.deprecated), maybe(dates.sunset)];
    const [retired, forgotten] = [maybe(dates.retired), maybe(dates.forgotten)];
    return { stage: stageAt(dates, now), deprecated, sunset, retired, forgotten };
  };
  return { version: of(version), operation: of(operation) };
}

export function timelineWords(text: string | undefined) {
  const [announced = ''] = text?.split('; not announced yet') ?? [];
  const date = (word: string) => new RegExp(`, ${word} (\\d[\\dTZ:-]*)`).exec(announced)?.[1];
  const [stage] = announced.split(',');
  return {
    stage,
    deprecated: date('deprecated'),
    sunset: date('sunset'),
    retired: date('retired'),
    forgotten: date('forgotten'),
  };
}

/** `null`: no such date. */
export function described({ now }: Case, { version, operation }: Both) {
  const stage = stageAt(version, now);
  const day = (at: number | undefined) => (at === undefined ? null : short(at));
  return {
    version: {
      stage: stage === 'active' ? 'stable' : stage,
      announced: day(version.announced ?? version.deprecated),
      sunset: day(version.sunset),
      guide: version.guide,
    },
    operation: {
      flag: operation.deprecated !== undefined && now >= operation.deprecated,
      deprecated: day(operation.deprecated),
      sunset: day(operation.sunset),
    },
  };
}

export function metrics({ accompanied, now }: Case, dates: Dates) {
  const gone = isForgotten(dates, now);
  const seconds = (at: number | undefined) => (at === undefined || gone ? undefined : at / 1_000);
  const stage = gone ? undefined : stageAt(dates, now);
  return {
    api: accompanied ? 'active' : stage,
    stage,
    deprecated: seconds(dates.deprecated),
    sunset: seconds(dates.sunset),
    successor: gone ? undefined : (dates.successor ?? ''),
  };
}
