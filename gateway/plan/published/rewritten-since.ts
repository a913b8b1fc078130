// Compares an API as published with the current policies: which published facts change, and what to record.
import type { EpochMs } from '../../policy/contract.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { pathsOf } from '../../sections/routes/compile.ts';
import type { PolicyView, Report } from '../../sections/view.ts';
import { reporter } from '../check/views.ts';
import type { Problem } from '../problems.ts';
import { switchedReport } from '../rules/switch.ts';
import { type CurrentPolicies, placesOfView } from './current-policies.ts';
import {
  announcedParts,
  datesOf,
  datesOfRecord,
  formerVersionOf,
  isReleased,
  mergedDates,
  missingDates,
  withAnnounced,
} from './published-dates.ts';
import type { AcceptedChange, FormerVersion } from './record.ts';
import {
  checkFormer,
  checkPast,
  checkShared,
  type PublishedVersions,
  publishedOf,
} from './rewritten-versions.ts';

export interface PastApi {
  readonly api: string;
  /** Its file. Undefined if it was removed before. */
  readonly view: PolicyView | undefined;
  /** Dates published earlier that its file no longer has. */
  readonly former: readonly FormerVersion[];
}

export interface Rewritten {
  readonly problems: readonly Problem[];
  readonly former: readonly FormerVersion[];
}

/** `accepted`: changes that an operator has accepted. They become warnings. */
export async function rewrittenSince(
  past: PastApi,
  today: CurrentPolicies,
  now: EpochMs,
  accepted: readonly AcceptedChange[] = [],
): Promise<Rewritten> {
  const places =
    past.view === undefined
      ? [...new Set(past.former.flatMap((former) => former.places))]
      : placesOfView(past.view, today);
  const views = await replacementsOf(past.api, places, today);
  const stated = announcedIn(past.view, now);
  const former: PublishedVersions = new Map(past.former.map((each) => [each.label, datesOfRecord(each)]));
  const known = knownDates(stated, former, now);
  const problems: Problem[] = [];
  const reportIn = ({ parts, document }: PolicyView) =>
    switchedReport(parts.rules, acceptedReport(accepted, reporter(document, problems)));
  const replacing = views.map((view) => {
    const versions = [...view.versions].map(
      ([label, version]) => [label, withAnnounced(version, now)] as const,
    );
    return { view: { ...view, versions: new Map(versions) }, report: reportIn(view) };
  });
  const [replacement, ...rest] = replacing;
  if (replacement !== undefined) {
    const elsewhere = new Set(rest.flatMap(({ view }) => view.labels));
    // An API that was removed and comes back is compared with recorded versions of the same form.
    const last = past.view === undefined ? ofSameForm(former, replacement.view) : stated;
    checkPast(last, replacement, now, elsewhere);
    checkFormer(missingIn(last, former, now), last, replacement);
    for (const other of rest) checkShared(known, other, now);
    const isServed = [...known.values(), ...stated.values()].some((dates) => isReleased(dates, now));
    const present = new Set(views.flatMap(({ parts }) => today.placesOf(parts.api ?? past.api)));
    if (isServed) urlsMoved(places, present, replacement.view, replacement.report, today);
  } else if (today.complete && past.view !== undefined) {
    const published = publishedOf(stated, now);
    const report = reportIn(past.view);
    if (published.size > 0) apiRemoved(past.api, [...published.keys()], report);
    else if (isReachable(stated, now)) urlsRemoved(past.view, places, report, today);
  }
  const left = new Map(past.former.map((each) => [each.label, each.left]));
  const standing = new Map(views.toReversed().flatMap((view) => [...announcedIn(view, now)]));
  return {
    problems,
    former: [...known].flatMap(([label, dates]) => {
      const api = views[0]?.parts.api ?? past.api;
      const identity = { api, label, places, left: left.get(label) ?? now };
      return formerVersionOf(identity, dates, standing.get(label), now) ?? [];
    }),
  };
}

/** The dates that are announced by now. */
function announcedIn(view: PolicyView | undefined, now: EpochMs): PublishedVersions {
  return new Map(
    [...(view?.versions ?? [])].map(([label, version]) => [label, datesOf(announcedParts(version, now))]),
  );
}

/** Covers the accepted change only: another date of the same version is refused again. */
function acceptedReport(accepted: readonly AcceptedChange[], report: Report): Report {
  return (path, finding) => {
    const { severity, change } = finding;
    const found = accepted.find(
      ({ api, label, to }) => api === change?.api && label === change.label && to === change.to,
    );
    if (severity !== 'error' || found === undefined) return report(path, finding);
    report(path, { ...finding, severity: 'warning', hint: `accepted by ${found.by}: ${found.why}` });
  };
}

/** An API without versions and dates has no published version, but its URLs are in use. */
function isReachable(stated: PublishedVersions, now: EpochMs): boolean {
  return [...stated.values()].some((dates) => isReleased(dates, now) && dates.forgotten === undefined);
}

/** The API of that name first, then the APIs that have its hosts and paths now. */
async function replacementsOf(
  api: string,
  places: readonly string[],
  today: CurrentPolicies,
): Promise<readonly PolicyView[]> {
  const own = new Set(today.placesOf(api));
  const others = places.every((place) => own.has(place)) ? [] : today.holdersOf(places);
  const found: PolicyView[] = [];
  for (const name of new Set([api, ...others])) {
    const view = await today.find(name);
    if (view !== undefined) found.push(view);
  }
  return found;
}

/** The entries with versions, or without, like `current`. All entries if none matches. */
function ofSameForm(former: PublishedVersions, current: PolicyView): PublishedVersions {
  const same = [...former].filter(([label]) => (label === UNVERSIONED) === current.unversioned);
  return same.length === 0 ? former : new Map(same);
}

/** All published dates of these versions. The newest value of each date counts. */
function knownDates(stated: PublishedVersions, former: PublishedVersions, now: EpochMs): PublishedVersions {
  const published = new Set([...publishedOf(stated, now).keys(), ...former.keys()]);
  return new Map(
    [...published].map((label) => [label, mergedDates(former.get(label) ?? {}, stated.get(label) ?? {})]),
  );
}

/** The recorded dates that the last published files do not have. */
function missingIn(stated: PublishedVersions, former: PublishedVersions, now: EpochMs): PublishedVersions {
  return new Map(
    [...former].map(([label, dates]) => {
      const version = stated.get(label);
      return [
        label,
        version !== undefined && isReleased(version, now) ? missingDates(dates, version) : dates,
      ];
    }),
  );
}

/** Reported in the last published file of the API. */
function apiRemoved(api: string, published: readonly Label[], report: Report): void {
  const isWhole = published.includes(UNVERSIONED);
  const what = isWhole ? 'its dates' : 'its versions and their dates';
  report(['api'], {
    rule: 'version-removed',
    message: `this API was published${isWhole ? '' : ` (${published.join(', ')})`} and no policy file describes it now`,
    hint: `keep ${what}; after ${isWhole ? 'its' : 'their'} sunset ${isWhole ? 'it needs' : 'they need'} no upstream`,
    change: { api, label: api, to: 'removed' },
  });
}

/** `present`: the places of this file, and those of `past` that any API has now. */
function urlsMoved(
  past: readonly string[],
  present: ReadonlySet<string>,
  { parts }: PolicyView,
  report: Report,
  today: Pick<CurrentPolicies, 'around'>,
): void {
  const paths = new Set(pathsOf(parts).map(({ path }) => path));
  const reported = new Set<string>();
  for (const place of past.filter((each) => !present.has(each))) {
    const [host, path = ''] = place.split(' ');
    const isHost = paths.has(path);
    const key = isHost ? 'host' : path.includes('{version}') ? 'resolve' : 'base';
    const was = isHost ? `${host}${path}` : path;
    if (reported.has(was)) continue;
    reported.add(was);
    report([key], {
      rule: 'urls-moved',
      message: `${was} was published and ${whoAnswers(today.around(place))}`,
      hint: `keep ${key === 'host' ? `${host} among the hosts` : key === 'base' ? `base: ${path}` : `path: ${path}`}`,
    });
  }
}

/** The same for a removed API without dates, reported in its last published file. */
function urlsRemoved(
  { parts }: PolicyView,
  places: readonly string[],
  report: Report,
  today: Pick<CurrentPolicies, 'around'>,
): void {
  const [outer] = places.flatMap((place) => today.around(place) ?? []);
  report(['base'], {
    rule: 'urls-moved',
    message: `${parts.base ?? parts.api} was published and ${whoAnswers(outer)}`,
    hint: 'keep its file, with deprecated and sunset; after its sunset it needs no upstream',
  });
}

function whoAnswers(outer: string | undefined): string {
  return outer === undefined
    ? 'belongs to no API now: its callers get 404'
    : `belongs to the API ${outer} now: the access rules of that API apply to its callers`;
}
