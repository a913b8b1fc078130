// Computes the phases of a version from its dates, each with its prepared header lines.
import { serializeItem } from 'structured-headers';
import type { EpochMs, HeaderLine } from '../contract.ts';
import { dayOf } from '../notation.ts';
import type { Label } from '../versioning/resolution.ts';
import { announcementOf } from './announcements.ts';
import { link, linkTarget } from './links.ts';
import { hasEnded } from './retirement.ts';
import type { DeprecationForm, Phase, Schedule, Stage } from './schedule.ts';

export interface PhaseOptions {
  /** Undefined for an API without versions. */
  readonly label: Label | undefined;
  /** For the phases of one operation, such as `GET /search`. */
  readonly operation?: string;
  readonly form: DeprecationForm;
  /** Absolute URL of the API's lifecycle page, for `rel="sunset"`. */
  readonly page?: string;
  /** Whether a deprecated version sends `Warning: 299` (WARN-5). */
  readonly warning: boolean;
}

/**
 * The phases of a version, in time order, without gaps and without empty phases. The sunset overrides every other date, so
 * that an inconsistent schedule never serves an ended version (RET-11). Without its own date, retirement equals the sunset.
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
    phaseWithoutSignals('planned', -Infinity, released, []),
    phaseWithoutSignals('active', released, ahead, services),
    {
      ...phaseWithoutSignals('active', ahead, deprecated, services),
      ...announcedSignals(schedule, options, services),
    },
    {
      stage: 'deprecated' as const,
      from: deprecated,
      until: sunset,
      ...signals,
      links: joined([signals.links, ...services]),
    },
    // The warning announces a removal. After the removal, the 410 itself says so.
    { stage: 'sunset' as const, from: sunset, until: retired, ...signals, warning: undefined },
    { stage: 'retired' as const, from: retired, until: Infinity, ...signals, warning: undefined },
  ].filter((phase) => phase.from < phase.until);
}

/**
 * Phases of a version that may have no upstream. Only a version past its sunset may lack one. It gets its end phase from
 * its release on, even if the clock is set back to before the sunset (RET-11). Headers, catalog and metrics then agree with
 * the 410 or redirect.
 */
export function phasesWith(upstream: object | undefined, phases: readonly Phase[]): readonly Phase[] {
  const end = phases.find(hasEnded);
  if (upstream !== undefined || end === undefined) return phases;
  const planned = phases.filter(({ stage }) => stage === 'planned');
  const from = planned.at(-1)?.until ?? Number.NEGATIVE_INFINITY;
  return [...planned, { ...end, from }, ...phases.slice(phases.indexOf(end) + 1)];
}

/** The phase in force at `now`. The instant of a transition belongs to the later phase (SUN-2). */
export function phaseAt(phases: readonly Phase[], now: EpochMs): Phase {
  for (let index = phases.length - 1; index >= 0; index -= 1) {
    const phase = phases[index];
    if (phase !== undefined && now >= phase.from) return phase;
  }
  throw new RangeError(`no phase covers the instant ${now}`);
}

/** A deprecation is signalled from its announcement on, a sunset without a deprecation throughout. */
function signalledFrom(schedule: Schedule, deprecated: EpochMs): EpochMs {
  if (schedule.deprecated !== undefined) return announcementOf(schedule) ?? deprecated;
  return schedule.sunset === undefined ? deprecated : Number.NEGATIVE_INFINITY;
}

/**
 * DEP-8: the future dates of an active version. Only the RFC 9745 form can express a future deprecation. `true` and an HTTP
 * date would mean that the version is deprecated already.
 */
function announcedSignals(
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

function phaseWithoutSignals(stage: Stage, from: EpochMs, until: EpochMs, links: readonly string[]): Phase {
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
 * RFC 8631: links to the documentation of the version, on every final response while it is served, refusals included. An
 * ended version sends its guide instead.
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
    // XDI-1: the specification's own header and the registered link relation carry the same URL.
    replace.push(['x-api-deprecation-info', linkTarget(schedule.status)]);
    links.push(link(schedule.status, 'status'));
  }
  // RFC 8594 §6: the page that explains the end.
  if (schedule.sunset !== undefined && options.page !== undefined) links.push(link(options.page, 'sunset'));
  // An alternate is no successor of this resource, so it is linked only without a successor.
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

/** DEP-1, DEP-3: one of three forms, in whole seconds. */
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

/** IMF-fixdate, the only HTTP-date form that a sender may use (SUN-1). */
function httpDate(at: EpochMs): string {
  return new Date(at).toUTCString();
}

/** WARN-1: code, agent, quoted text. The text contains the deadline, never a warn-date (WARN-3). */
function warningValue(schedule: Schedule, { label, operation }: PhaseOptions): string {
  const whole = label === undefined ? 'This API' : `Version ${label}`;
  const subject = operation === undefined ? whole : `${operation} of version ${label}`;
  const removal = schedule.sunset === undefined ? '' : ` and will be removed on ${dayOf(schedule.sunset)}`;
  const guide = schedule.guide === undefined ? '' : `; see ${linkTarget(schedule.guide)}`;
  return `299 - "${quotable(`${subject} is deprecated${removal}${guide}`)}"`;
}

/** WARN-2: only visible ASCII and SP, with `"` and `\` escaped. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');
}
