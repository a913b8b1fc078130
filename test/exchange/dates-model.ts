// A small model of what callers may know of a version at an instant. It shares no code with the gateway.
const DAY = 86_400_000;
const HOUR = 3_600_000;

export interface Brownout {
  readonly announced: number;
  /** A day, or days before the current sunset. The window lasts five hours. */
  readonly on: { readonly day: number } | { readonly before: number };
}

export interface Life {
  readonly released: number;
  readonly announced: number | undefined;
  readonly deprecated: number | undefined;
  readonly sunset: number | undefined;
  readonly extended: readonly { readonly announced: number; readonly to: number }[];
  readonly retired: number | undefined;
  readonly forgotten: number | undefined;
  readonly brownouts: readonly Brownout[];
}

export interface Part {
  readonly deprecated: number | undefined;
  readonly sunset: number | undefined;
  readonly brownouts: readonly Brownout[] | undefined;
  /** Whether it has its own guide. */
  readonly guide: boolean;
}

export interface Case {
  readonly life: Life;
  readonly part: Part;
  readonly form: 'rfc9745' | 'true' | 'http-date';
  readonly warning: boolean;
  /** Whether there is another version that stays active. */
  readonly accompanied: boolean;
  readonly now: number;
}

/** Every instant at which anything may start or end. */
export function instantsOf(life: Life, part: Part): readonly number[] {
  const { brownouts, extended, ...dates } = life;
  const ends = [life.sunset, ...extended.map(({ to }) => to)];
  const windows = [...brownouts, ...(part.brownouts ?? [])].flatMap(({ announced, on }) => [
    announced,
    ...ends.flatMap((end) => {
      const from = 'day' in on ? on.day + HOUR : (end ?? 0) - on.before * DAY + 12 * HOUR;
      return [from, from + 5 * HOUR];
    }),
  ]);
  const all = [
    ...Object.values(dates),
    part.deprecated,
    part.sunset,
    ...extended.flatMap(({ announced, to }) => [announced, to]),
    ...windows,
  ];
  const known = all.filter((at): at is number => typeof at === 'number');
  return [...new Set(known)].sort((one, other) => one - other);
}

export interface Dates {
  readonly released: number;
  readonly announced: number | undefined;
  readonly deprecated: number | undefined;
  readonly sunset: number | undefined;
  readonly retired: number | undefined;
  readonly forgotten: number | undefined;
  /** The rest of each window after its announcement. */
  readonly windows: readonly (readonly [from: number, until: number, rule: number])[];
  /** Announced together with the dates. */
  readonly successor: string | undefined;
  readonly guide: string | undefined;
  /** Whether the operation has the windows of its version. */
  readonly inherits: boolean;
}

export const GUIDES = { version: 'https://docs.example.com/v1', operation: 'https://docs.example.com/old' };

function isAnnounced({ announced, deprecated }: Life, now: number): boolean {
  return announced === undefined || deprecated === undefined || now >= Math.min(announced, deprecated);
}

/** The dates of a version as known at `now`. */
export function datesAt({ life, accompanied }: Case, now: number): Dates {
  const { released, announced, deprecated, extended, retired, forgotten } = life;
  const none = { announced: undefined, deprecated: undefined, sunset: undefined };
  const advice = { successor: accompanied ? 'v2' : undefined, guide: GUIDES.version };
  if (!isAnnounced(life, now)) {
    const dates = { released, ...none, retired: undefined, forgotten: undefined };
    return { ...dates, successor: undefined, guide: undefined, windows: [], inherits: false };
  }
  const sunset = extended.findLast((each) => each.announced <= now)?.to ?? life.sunset;
  const dates = { released, announced, deprecated, sunset, retired, forgotten, ...advice };
  return { ...dates, windows: windowsOf(life.brownouts, dates, now), inherits: false };
}

/** The dates of its operation, never later than the version's. */
export function partDatesAt(drawn: Case, now: number): Dates {
  const { life, part } = drawn;
  const whole = datesAt(drawn, now);
  const earliest = (one: number | undefined, other: number | undefined) =>
    one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
  const sunset = earliest(part.sunset, whole.sunset);
  const wanted = earliest(part.deprecated, whole.deprecated);
  // A deprecation after the sunset has no effect.
  const deprecated = wanted !== undefined && sunset !== undefined && wanted > sunset ? undefined : wanted;
  const announced = deprecated === whole.deprecated ? whole.announced : undefined;
  const retired = sunset === whole.sunset ? whole.retired : undefined;
  const isOwn = part.deprecated !== undefined || part.sunset !== undefined;
  const guide = part.guide && (isOwn || isAnnounced(life, now)) ? GUIDES.operation : whole.guide;
  const own = { announced, deprecated, sunset, retired, guide, inherits: part.brownouts === undefined };
  const dates = { ...whole, ...own };
  return part.brownouts === undefined ? dates : { ...dates, windows: windowsOf(part.brownouts, dates, now) };
}

function windowsOf(
  brownouts: readonly Brownout[],
  { deprecated, sunset }: Pick<Dates, 'deprecated' | 'sunset'>,
  now: number,
): Dates['windows'] {
  if (deprecated === undefined || sunset === undefined) return [];
  return brownouts
    .map((each, rule) => ({ ...each, rule }))
    .filter(({ announced }) => announced <= now)
    .map(({ announced, on, rule }) => {
      const from = 'day' in on ? on.day + HOUR : sunset - on.before * DAY + 12 * HOUR;
      return [Math.max(from, announced, deprecated), Math.min(from + 5 * HOUR, sunset), rule] as const;
    })
    .filter(([from, until]) => from < until)
    .sort(([one], [other]) => one - other);
}

export type Stage = 'planned' | 'active' | 'deprecated' | 'sunset' | 'retired';

export function stageAt({ released, deprecated, sunset, retired }: Dates, now: number): Stage {
  if (sunset !== undefined && now >= sunset)
    return retired !== undefined && now < retired ? 'sunset' : 'retired';
  if (now < released) return 'planned';
  return deprecated !== undefined && now >= deprecated ? 'deprecated' : 'active';
}

export function isForgotten({ forgotten }: Dates, now: number): boolean {
  return forgotten !== undefined && now >= forgotten;
}

/** The content of the response to a request. */
export function answerAt({ form, warning }: Case, dates: Dates, now: number) {
  const stage = stageAt(dates, now);
  const { announced, deprecated, sunset } = dates;
  const ended = stage === 'sunset' || stage === 'retired';
  const isAhead = stage === 'active' && announced !== undefined && now >= announced;
  const isDeprecated = ended || stage === 'deprecated';
  const shown =
    deprecated === undefined || !(isDeprecated || (isAhead && form === 'rfc9745')) ? undefined : deprecated;
  const inBrownout = dates.windows.some(([from, until]) => now >= from && now < until);
  return {
    outcome: ended ? 'version_retired' : inBrownout ? 'brownout' : 'forwarded',
    stage,
    deprecation:
      shown &&
      (form === 'rfc9745' ? `@${shown / 1_000}` : form === 'true' ? 'true' : new Date(shown).toUTCString()),
    sunset:
      sunset !== undefined && (isDeprecated || isAhead || deprecated === undefined)
        ? new Date(sunset).toUTCString()
        : undefined,
    warns: warning && stage === 'deprecated',
    lowered: ended || inBrownout ? undefined : stage === 'deprecated',
  };
}
