// urls-moved: callers keep the URLs they have; where a base, a path or a host is changed, they get 404 or another API.
// Compares the places of an API, each a host and a path, with those that still lead to some API.
import { pathsOf } from '../api-routes.ts';
import type { PolicyView, Report } from '../check/views.ts';
import type { Today } from '../today.ts';

/** `present`: every place of `past` that leads somewhere today, and all of this file. */
export function urlsMoved(
  past: readonly string[],
  present: ReadonlySet<string>,
  { parts }: PolicyView,
  report: Report,
  today: Pick<Today, 'around'>,
): void {
  const paths = new Set(pathsOf(parts).map(({ path }) => path));
  const told = new Set<string>();
  for (const place of past.filter((each) => !present.has(each))) {
    const [host, path = ''] = place.split(' ');
    const isHost = paths.has(path);
    const key = isHost ? 'host' : path.includes('{version}') ? 'resolve' : 'base';
    const was = isHost ? `${host}${path}` : path;
    if (told.has(was)) continue;
    told.add(was);
    report([key], {
      rule: 'urls-moved',
      message: `${was} was published and ${whereTo(today.around(place))}`,
      hint: `keep ${key === 'host' ? `${host} among the hosts` : key === 'base' ? `base: ${path}` : `path: ${path}`}`,
    });
  }
}

/** The same of an API without dates that is gone as a whole, said where it stood. */
export function urlsLeft(
  { parts }: PolicyView,
  places: readonly string[],
  report: Report,
  today: Pick<Today, 'around'>,
): void {
  const [outer] = places.flatMap((place) => today.around(place) ?? []);
  report(['base'], {
    rule: 'urls-moved',
    message: `${parts.base ?? parts.api} was published and ${whereTo(outer)}`,
    hint: 'keep its file, with deprecated and sunset; after its sunset it needs no upstream',
  });
}

function whereTo(outer: string | undefined): string {
  return outer === undefined
    ? 'leads to no API any more: its callers get 404'
    : `leads to the API ${outer} now: its callers are judged by the access rules of that API`;
}
