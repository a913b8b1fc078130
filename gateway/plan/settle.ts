// Which files a plan is made of when some are refused: for each of these the last accepted form of its API stands in.
// Asked by the reader of policies at a start that refuses a file, and at the reloads that follow it.
import { basename } from 'node:path';
import type { EpochMs } from '../policy/contract.ts';
import { type AcceptedForm, type AcceptedForms, createAcceptedForms } from './accepted-forms.ts';
import { type Claimant, type Claims, checkTogether } from './check/together.ts';
import type { PolicyView, Surroundings } from './check/views.ts';
import type { Context } from './load-documents.ts';
import type { ReadPiece } from './pieces.ts';
import { hasErrors, headline, type Problem } from './problems.ts';
import { comparePublished } from './published-comparison.ts';
import type { FormerVersion, PublishedEntry, PublishedFile } from './published-record.ts';
import { effectiveSunset } from './redirects.ts';
import { todayOf } from './today.ts';

/** A policy file as it was read from the disk. */
export interface Candidate {
  /** As printed. */
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Undefined where the shape is wrong. */
  readonly piece: ReadPiece | undefined;
  /** Undefined for what is no YAML. */
  readonly claimant: Claimant | undefined;
  readonly view: (now: EpochMs) => PolicyView | undefined | Promise<PolicyView | undefined>;
}

/** A policy file that is refused although others are taken. */
export interface Quarantined {
  /** The name of the file, without its folder, where no other name is known or another file serves that API. */
  readonly api: string;
  /** The refused file, as printed. */
  readonly file: string;
  /** What is wrong with it, in one line. */
  readonly reason: string;
  /** In its last accepted form; otherwise the API is left out. */
  readonly isServed: boolean;
}

export interface Settled {
  /** Accepted files first: where two claim a route, the first has it. */
  readonly pieces: readonly ReadPiece[];
  readonly problems: readonly Problem[];
  readonly former: readonly FormerVersion[];
  readonly quarantined: readonly Quarantined[];
  /** What stays recorded of APIs that are left out. */
  readonly retained: readonly PublishedFile[];
}

export interface SettleInput {
  readonly candidates: readonly Candidate[];
  /** Why every file is missing; undefined where there are some. */
  readonly unmatched: Problem | undefined;
  readonly recorded: readonly PublishedEntry[];
}

type Refused = Map<string, readonly Problem[]>;

interface StandIn extends NonNullable<AcceptedForm['usable']> {
  readonly file: string;
}

export async function settle(input: SettleInput, context: Context, around: Surroundings): Promise<Settled> {
  const { recorded, unmatched } = input;
  const forms = createAcceptedForms(recorded, context, around);
  const isUnchanged = ({ file, piece }: Candidate) => piece?.files[0]?.text === forms.textOf(file);
  // A file that is as it was accepted keeps what it claims; the one that changed is refused.
  const candidates = input.candidates.toSorted((a, b) => Number(isUnchanged(b)) - Number(isUnchanged(a)));
  const refused: Refused = new Map(
    candidates.flatMap((each) =>
      each.piece === undefined || hasErrors(each.problems) ? [[each.file, each.problems]] : [],
    ),
  );
  if (unmatched !== undefined) for (const name of forms.names) refused.set(name, [unmatched]);
  for (;;) {
    const accepted = candidates.filter(({ file }) => !refused.has(file));
    const { standIns, leftOut, retained } = await standIn(refused, candidates, accepted, forms);
    const left = standIns.map((each) => ({ ...each, claims: without(each.claims, accepted) }));
    const claims = [
      ...accepted.flatMap(({ claimant }) => claimant?.claims ?? []),
      ...left.map((each) => each.claims),
    ];
    const views = new Map(left.map(({ view }) => [view.parts.api, view]));
    const byName = new Map(accepted.map((each) => [each.claimant?.claims.api, each]));
    const find = (api: string) => byName.get(api)?.view(context.now) ?? views.get(api);
    const pieces = [...accepted.flatMap(({ piece }) => piece ?? []), ...left.map(({ piece }) => piece)];
    const compared = await comparePublished(
      {
        recorded,
        files: pieces.flatMap(({ files }) => files),
        today: todayOf(claims, find, { complete: true, public: around.public }),
      },
      context,
    );
    const together = checkTogether(accepted.flatMap(({ claimant }) => claimant ?? []));
    const ended = accepted.flatMap((each) => takesEnded(each, standIns, context.now));
    // What is found in a form that was accepted is no news.
    const found = [...together, ...ended, ...compared.problems].filter(({ file }) => !refused.has(file));
    const errors = Map.groupBy(
      found.filter(({ severity }) => severity === 'error'),
      ({ file }) => file,
    );
    const taken = new Set(pieces.flatMap(({ files }) => files.map(({ name }) => name)));
    if (errors.size === 0)
      return {
        pieces,
        problems: [
          ...accepted.flatMap(({ problems }) => problems),
          ...[...refused.values()].flat(),
          ...found,
        ],
        former: compared.former,
        quarantined: [
          ...standIns.map(({ view, file }) => ({ api: view.parts.api ?? '', file, isServed: true })),
          ...leftOut.map((each) => ({ ...each, isServed: false })),
        ].map((each) => ({ ...each, reason: reasonOf(refused.get(each.file) ?? []) })),
        // A file of that name may have been accepted with another API in it.
        retained: retained.filter(({ name }) => !taken.has(name)),
      };
    for (const [file, problems] of errors) {
      // A date may stand in a description that the policy names.
      const owners = accepted.filter(({ piece }) => piece?.files.some(({ name }) => name === file));
      for (const owner of owners) refused.set(owner.file, [...owner.problems, ...problems]);
      if (owners.length === 0) refused.set(file, problems);
    }
  }
}

/** By the name of the file, and by that of its API where the API stood in another file. */
async function standIn(
  refused: Refused,
  candidates: readonly Candidate[],
  accepted: readonly Candidate[],
  forms: AcceptedForms,
): Promise<{ standIns: StandIn[]; leftOut: Pick<Quarantined, 'api' | 'file'>[]; retained: PublishedFile[] }> {
  const served = new Set(accepted.flatMap(({ claimant }) => claimant?.claims.api ?? []));
  const taken = new Set(accepted.map(({ file }) => file));
  const standIns: StandIn[] = [];
  const unserved = new Map<string, string | undefined>();
  const retained: PublishedFile[] = [];
  for (const file of refused.keys()) {
    let api = candidates.find((each) => each.file === file)?.claimant?.claims.api;
    const others = api === undefined ? [] : forms.names.filter((name) => name !== file && !taken.has(name));
    let stoodIn = false;
    for (const name of [file, ...others]) {
      const form = await forms.read(name);
      if (form === undefined || (name !== file && form.api !== api)) continue;
      api ??= form.api;
      if (form.usable === undefined) retained.push(...form.files);
      else if (served.has(form.api ?? '')) stoodIn ||= name !== file;
      else {
        served.add(form.api ?? '');
        standIns.push({ ...form.usable, file });
        stoodIn = true;
      }
    }
    if (!stoodIn) unserved.set(file, api);
  }
  // The same files make the same plan, in whatever order they were refused.
  standIns.sort((a, b) => ((a.view.parts.api ?? '') < (b.view.parts.api ?? '') ? -1 : 1));
  const leftOut = [...unserved].map(([file, api]) => {
    const isKnown = api !== undefined && !served.has(api);
    if (isKnown) served.add(api);
    return { api: isKnown ? api : basename(file), file };
  });
  return { standIns, leftOut, retained };
}

/** The routes that no accepted file claims. */
function without(claims: Claims, accepted: readonly Candidate[]): Claims {
  const taken = new Set(accepted.flatMap(({ claimant }) => keysOf(claimant?.claims)));
  const routes = claims.routes.map(({ at, keys }) => ({ at, keys: keys.filter((key) => !taken.has(key)) }));
  return { ...claims, routes };
}

function keysOf(claims: Claims | undefined): readonly string[] {
  return claims?.routes.flatMap(({ keys }) => keys) ?? [];
}

/** A version that answers 410 stays so: its places are not handed to another API while its own file is refused. */
function takesEnded({ claimant }: Candidate, standIns: readonly StandIn[], now: EpochMs): readonly Problem[] {
  if (claimant === undefined) return [];
  for (const { claims, view } of standIns) {
    for (const [label, version] of view.versions) {
      if ((effectiveSunset(version) ?? Number.POSITIVE_INFINITY) > now) continue;
      const places = new Set(keysOf(claims).flatMap((key) => [key, key.replace('{version}', label)]));
      const route = claimant.claims.routes.find(({ keys }) => keys.some((key) => places.has(key)));
      if (route === undefined) continue;
      const message = `${label} of the API ${view.parts.api} has ended and answers here; the file of that API was refused`;
      const hint = `correct the file of ${view.parts.api} first`;
      return [claimant.document().problem(route.at, { rule: 'duplicate', message, hint })];
    }
  }
  return [];
}

function reasonOf(problems: readonly Problem[]): string {
  const first = problems.find(({ severity }) => severity === 'error');
  return first === undefined ? 'the file is missing' : headline(first);
}
