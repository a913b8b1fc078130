// From the dates of a version to its phases, each with its signals ready to send.
import { serializeItem } from 'structured-headers';
import type { EpochMs, HeaderLine } from '../contract.ts';
import { dayOf } from '../notation.ts';
import type { Label } from '../versioning/resolution.ts';
import { announcementOf } from './known.ts';
import { link, linkTarget } from './links.ts';
import { hasEnded } from './retirement.ts';
import type { DeprecationForm, Phase, Schedule, Stage } from './schedule.ts';

export interface PhaseOptions {
  /** Undefined for an API without versions. */
  readonly label: Label | undefined;
  /** Present for the phases of one operation, such as `GET /search`. */
  readonly operation?: string;
  readonly form: DeprecationForm;
  /** Absolute URL of the page that tells of the API's life, for `rel="sunset"`; undefined: none. */
  readonly page?: string;
  /** Whether a deprecated version sends `Warning: 299` (WARN-5). */
  readonly warning: boolean;
}

/**
 * The phases of a version, in time order, covering all time without gaps. Phases of zero length are left out.
 * Sunset wins over every other date, so that a wrong schedule can never serve what should be gone (RET-11); without a
 * date of its own, retirement coincides with sunset.
 */
export function createPhases(schedule: Schedule, options: PhaseOptions): readonly Phase[] {
  const sunset = schedule.sunset ?? schedule.retired ?? Infinity;
  const released = Math.min(schedule.released, sunset);
  const deprecated = Math.min(Math.max(schedule.deprecated ?? sunset, released), sunset);
  const retired = Math.max(schedule.retired ?? sunset, sunset);

  const ahead = Math.min(Math.max(signalledFrom(schedule, deprecated), released), deprecated);
  const signals = signalsOf(schedule, options);
  const services = serviceLinks(schedule);
  return [
    quiet('planned', -Infinity, released, []),
    quiet('active', released, ahead, services),
    { ...quiet('active', ahead, deprecated, services), ...aheadOf(schedule, options, services) },
    {
      stage: 'deprecated' as const,
      from: deprecated,
      until: sunset,
      ...signals,
      links: joined([signals.links, ...services]),
    },
    // The warning announces a removal; once that has happened the 410 itself says so.
    { stage: 'sunset' as const, from: sunset, until: retired, ...signals, warning: undefined },
    { stage: 'retired' as const, from: retired, until: Infinity, ...signals, warning: undefined },
  ].filter((phase) => phase.from < phase.until);
}

/**
 * The phases as a clock finds them. What has no upstream has nothing left to serve, and only what is past its sunset may
 * be without one: its 410 or redirect is its answer from its release on, also by a clock that is set back to before the
 * sunset (RET-11). The dates stay as they are; stage, headers, catalog and metrics then say the same as the answer.
 */
export function phasesWith(upstream: object | undefined, phases: readonly Phase[]): readonly Phase[] {
  const end = phases.find(hasEnded);
  if (upstream !== undefined || end === undefined) return phases;
  const planned = phases.filter(({ stage }) => stage === 'planned');
  const from = planned.at(-1)?.until ?? Number.NEGATIVE_INFINITY;
  return [...planned, { ...end, from }, ...phases.slice(phases.indexOf(end) + 1)];
}

/** The phase in force at `now`; the instant of a transition belongs to the later phase (SUN-2). */
export function phaseAt(phases: readonly Phase[], now: EpochMs): Phase {
  for (let index = phases.length - 1; index >= 0; index -= 1) {
    const phase = phases[index];
    if (phase !== undefined && now >= phase.from) return phase;
  }
  throw new RangeError(`no phase covers the instant ${now}`);
}

/** A deprecation is signalled from its announcement; a sunset without a deprecation for as long as the version is served. */
function signalledFrom(schedule: Schedule, deprecated: EpochMs): EpochMs {
  if (schedule.deprecated !== undefined) return announcementOf(schedule) ?? deprecated;
  return schedule.sunset === undefined ? deprecated : Number.NEGATIVE_INFINITY;
}

/**
 * DEP-8: the coming dates of an active version. RFC 9745 knows a future date; `true` and an HTTP date would say that the
 * version is deprecated already.
 */
function aheadOf(
  schedule: Schedule,
  options: PhaseOptions,
  services: readonly string[],
): Pick<Phase, 'sunset' | 'replace' | 'links'> {
  const { deprecated, sunset, guide } = schedule;
  const isDated = deprecated !== undefined && options.form === 'rfc9745';
  const links = [
    ...(isDated && guide !== undefined ? [link(guide, 'deprecation', 'text/html')] : []),
    ...(sunset !== undefined && options.page !== undefined ? [link(options.page, 'sunset')] : []),
  ];
  return {
    sunset,
    replace: [
      ...(isDated ? [['deprecation', deprecationValue(deprecated, 'rfc9745')] as const] : []),
      ...(sunset === undefined ? [] : [['sunset', httpDate(sunset)] as const]),
    ],
    links: joined([...links, ...services]),
  };
}

type Signals = Pick<Phase, 'sunset' | 'replace' | 'warning' | 'links' | 'linksSuccessor'>;

function quiet(stage: Stage, from: EpochMs, until: EpochMs, links: readonly string[]): Phase {
  return {
    stage,
    from,
    until,
    sunset: undefined,
    replace: [],
    warning: undefined,
    links: joined(links),
    linksSuccessor: false,
  };
}

/**
 * RFC 8631: how the version is called, on each of its final answers, refusals included, for as long as it is served. What
 * has ended has a guide instead: there is nothing left to call, and no header line to spend on it.
 */
function serviceLinks({ serviceDoc, serviceDesc }: Schedule): readonly string[] {
  return [
    ...(serviceDoc === undefined ? [] : [link(serviceDoc, 'service-doc')]),
    ...(serviceDesc === undefined ? [] : [link(serviceDesc, 'service-desc')]),
  ];
}

function joined(links: readonly string[]): string {
  return links.filter((each) => each !== '').join(', ');
}

function signalsOf(schedule: Schedule, options: PhaseOptions): Signals {
  const replace: HeaderLine[] = [];
  if (schedule.deprecated !== undefined) {
    replace.push(['deprecation', deprecationValue(schedule.deprecated, options.form)]);
  }
  if (schedule.sunset !== undefined) replace.push(['sunset', httpDate(schedule.sunset)]);
  const links: string[] = [];
  if (schedule.guide !== undefined) links.push(link(schedule.guide, 'deprecation', 'text/html'));
  if (schedule.status !== undefined) {
    // The registered relation says to any client what the specification's own header says to its readers (XDI-1).
    replace.push(['x-api-deprecation-info', linkTarget(schedule.status)]);
    links.push(link(schedule.status, 'status'));
  }
  // RFC 8594 §6: where the end is explained, and what follows it.
  if (schedule.sunset !== undefined && options.page !== undefined) links.push(link(options.page, 'sunset'));
  // A substitute is no next version of this resource: it is named only where there is none.
  if (schedule.alternate !== undefined && schedule.successor === undefined) {
    links.push(link(schedule.alternate, 'alternate'));
  }
  return {
    sunset: schedule.sunset,
    replace,
    warning: options.warning ? warningValue(schedule, options) : undefined,
    links: joined(links),
    linksSuccessor: schedule.successor !== undefined,
  };
}

/** DEP-1, DEP-3: one of three forms, whole seconds. */
function deprecationValue(at: EpochMs, form: DeprecationForm): string {
  switch (form) {
    case 'rfc9745':
      return serializeItem(new Date(at));
    case 'true':
      return 'true';
    case 'http-date':
      return httpDate(at);
    default:
      return form satisfies never;
  }
}

/** IMF-fixdate, the only form of HTTP-date a sender may use (SUN-1). */
function httpDate(at: EpochMs): string {
  return new Date(at).toUTCString();
}

/** WARN-1: code, agent, quoted text. The deadline stands in the text and never as a warn-date (WARN-3). */
function warningValue(schedule: Schedule, { label, operation }: PhaseOptions): string {
  const whole = label === undefined ? 'This API' : `Version ${label}`;
  const subject = operation === undefined ? whole : `${operation} of version ${label}`;
  const removal = schedule.sunset === undefined ? '' : ` and will be removed on ${dayOf(schedule.sunset)}`;
  const guide = schedule.guide === undefined ? '' : `; see ${linkTarget(schedule.guide)}`;
  return `299 - "${quotable(`${subject} is deprecated${removal}${guide}`)}"`;
}

/** WARN-2: visible ASCII and SP only, `"` and `\` escaped. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');
}
