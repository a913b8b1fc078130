// Selects the policy files to serve when some files are refused.

import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import type { CheckContext } from '../../sections/view.ts';
import type { Context } from '../load-documents.ts';
import { hasErrors, headline, type Problem } from '../problems.ts';
import { type AcceptedForms, createAcceptedForms } from '../published/accepted-forms.ts';
import { comparePublished } from '../published/comparison.ts';
import { currentPoliciesOf, isWithin, placesIn } from '../published/current-policies.ts';
import type { FormerVersion, PublishedEntry, PublishedFile } from '../published/record.ts';
import { checkTogether, outlineOf, type PolicyOutline } from '../rules/together.ts';
import type { ReadPiece } from './pieces.ts';
import { type Candidate, isUnchanged, type StandIn, standIns } from './stand-ins.ts';

/** A policy file that is refused while others are accepted. */
export interface Quarantined {
  /** The file name without its folder, if the API is unknown or another file serves it. */
  readonly api: string;
  readonly file: string;
  /** The first error, in one line. */
  readonly reason: string;
  /** True: the last accepted form of its API is served. False: the API is left out. */
  readonly isServed: boolean;
  /** Another file serves its API, so nothing is missing. */
  readonly isSpare: boolean;
}

export interface Settled {
  /** Accepted files first: if two claim a route, the first wins. Empty if no API can be served. */
  readonly pieces: readonly ReadPiece[];
  readonly problems: readonly Problem[];
  readonly former: readonly FormerVersion[];
  readonly quarantined: readonly Quarantined[];
  /** Recorded files of APIs that are left out. They stay in the record. */
  readonly retained: readonly PublishedFile[];
  /** Files that are left out with unknown routes, so that these cannot be closed. */
  readonly unplaced: readonly string[];
  /** Whether two files describe one API and neither is known to be the right one. */
  readonly hasRivals: boolean;
}

export interface SettleInput {
  readonly candidates: readonly Candidate[];
  /** Why no file was found. Undefined if there are files. */
  readonly unmatched: Problem | undefined;
  readonly recorded: readonly PublishedEntry[];
}

export async function settle(
  input: SettleInput,
  context: Context,
  checkContext: CheckContext,
): Promise<Settled> {
  const { recorded, unmatched } = input;
  const forms = createAcceptedForms(recorded, context, checkContext);
  // An unchanged file keeps its routes and name. A changed file with the same ones is refused.
  const rank = (each: Candidate) => Number(!isUnchanged(each, forms));
  const candidates = input.candidates.toSorted((a, b) => rank(a) - rank(b));
  const broken = new Map<string, readonly Problem[]>(
    candidates.flatMap((each) =>
      each.piece === undefined || hasErrors(each.problems) ? [[each.file, each.problems]] : [],
    ),
  );
  if (unmatched !== undefined) for (const name of forms.names) broken.set(name, [unmatched]);
  const refused = new Map(broken);
  for (;;) {
    const accepted = candidates.filter(({ file }) => !refused.has(file));
    const { now } = context;
    const files = { refused: [...refused.keys()], broken, candidates, accepted, forms, checkContext };
    const { findStandIns: standing, leftOut, retained } = await standIns(files);
    const outline = [
      ...accepted.flatMap(({ outlined }) => outlined?.outline ?? []),
      ...standing.map(({ view }) => withoutRoutesOf(outlineOf(view, checkContext.public), accepted)),
    ];
    const views = new Map(standing.map(({ view }) => [view.parts.api, view]));
    const byName = new Map(accepted.map((each) => [each.outlined?.outline.api, each]));
    const find = (api: string) => byName.get(api)?.view(now) ?? views.get(api);
    const pieces = [...accepted.flatMap(({ piece }) => piece ?? []), ...standing.map(({ piece }) => piece)];
    const compared = await comparePublished(
      {
        recorded,
        files: pieces.flatMap(({ files }) => files),
        today: currentPoliciesOf(outline, find, { complete: true, public: checkContext.public }),
      },
      context,
    );
    const together = checkTogether(accepted.flatMap(({ outlined }) => outlined ?? []));
    const ended = await routesOfEndedVersions(accepted, standing, forms, { ...context, ...checkContext });
    // Problems of refused files are listed already. Accepted forms were judged when they were accepted.
    const found = [...together, ...ended, ...compared.problems].filter(({ file }) => !refused.has(file));
    const errors = Map.groupBy(
      found.filter(({ severity }) => severity === 'error'),
      ({ file }) => file,
    );
    if (errors.size === 0) {
      const taken = new Set(pieces.flatMap((piece) => piece.files.map(({ name }) => name)));
      const apart = [
        ...standing.map(({ view, file }) => ({
          api: view.parts.api ?? '',
          file,
          isServed: true,
          isSpare: false,
        })),
        ...leftOut.map(({ api, file, isSpare }) => ({ api, file, isServed: false, isSpare })),
      ];
      return {
        pieces:
          pieces.length === 0
            ? []
            : [...pieces, ...[...standing, ...leftOut].flatMap(({ closed }) => closed)],
        problems: [
          ...accepted.flatMap(({ problems }) => problems),
          ...[...refused.values()].flat(),
          ...found,
        ],
        former: compared.former,
        quarantined: apart.map((each) => ({ ...each, reason: reasonOf(refused.get(each.file) ?? []) })),
        // A file that several policies name is recorded with the content in force.
        retained: retained.filter(({ kind, name }) => kind === 'policy' || !taken.has(name)),
        hasRivals: leftOut.some(({ isRival }) => isRival),
        unplaced: leftOut.flatMap(({ file, isPlaced, isSpare }) => (isPlaced || isSpare ? [] : file)),
      };
    }
    for (const [file, problems] of errors) {
      // The problem may be in a description that the policy names.
      const owners = accepted.filter(({ piece }) => piece?.files.some(({ name }) => name === file));
      for (const owner of owners) refused.set(owner.file, [...owner.problems, ...problems]);
      if (owners.length === 0) refused.set(file, problems);
    }
  }
}

/** The outline without the routes of accepted files. */
function withoutRoutesOf(outline: PolicyOutline, accepted: readonly Candidate[]): PolicyOutline {
  const taken = new Set(accepted.flatMap(({ outlined }) => placesIn(outlined?.outline)));
  const routes = outline.routes.map(({ at, keys }) => ({ at, keys: keys.filter((key) => !taken.has(key)) }));
  return { ...outline, routes };
}

/** A version that answers 410 keeps its routes while its file is refused: no other API may add one there or below. */
async function routesOfEndedVersions(
  accepted: readonly Candidate[],
  standing: readonly StandIn[],
  forms: AcceptedForms,
  { now, public: origin }: Pick<CheckContext, 'now' | 'public'>,
): Promise<readonly Problem[]> {
  const ended = standing.flatMap(({ view }) =>
    [...view.versions].flatMap(([label, version]) => {
      if ((effectiveSunset(version) ?? Number.POSITIVE_INFINITY) > now) return [];
      const keys = placesIn(outlineOf(view, origin));
      const places = keys.flatMap((key) => [key, key.replace('{version}', label)]);
      return [{ label, api: view.parts.api, places }];
    }),
  );
  if (ended.length === 0) return [];
  const problems: Problem[] = [];
  const changed = accepted.filter((each) => !isUnchanged(each, forms));
  const before = await forms.besides(accepted.flatMap(({ piece }) => piece ?? []));
  for (const { outlined } of changed) {
    if (outlined === undefined) continue;
    const own = before.flatMap(({ api, view }) => (view && api === outlined.outline.api ? view : []));
    const held = new Set(own.flatMap((view) => placesIn(outlineOf(view, origin))));
    for (const { label, api, places } of ended) {
      const isTaken = (key: string) => !held.has(key) && isWithin(key, places);
      const route = outlined.outline.routes.find(({ keys }) => keys.some(isTaken));
      if (route === undefined) continue;
      const message = `${label} of the API ${api} has ended and has this route, and its file was refused`;
      const hint = `correct the file of ${api} first`;
      problems.push(outlined.document().problem(route.at, { rule: 'duplicate', message, hint }));
      break;
    }
  }
  return problems;
}

function reasonOf(problems: readonly Problem[]): string {
  const first = problems.find(({ severity }) => severity === 'error');
  return first === undefined ? 'the file is missing' : headline(first);
}
