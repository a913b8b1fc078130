// For each refused file the accepted form that stands in for it.
// Without one its API is left out, and its routes are closed.
import { basename } from 'node:path';
import type { EpochMs } from '../policy/contract.ts';
import type { AcceptedForm, AcceptedForms } from './accepted-forms.ts';
import { type Claimant, claimsOf } from './check/together.ts';
import type { PolicyView, Surroundings } from './check/views.ts';
import { closedRoutes, statesRoutes } from './closed-routes.ts';
import type { ReadPiece } from './pieces.ts';
import type { Problem } from './problems.ts';
import type { PublishedFile } from './published-record.ts';
import { isWithin, placesIn } from './today.ts';

/** A policy file as it was read from the disk. */
export interface Candidate {
  /** As printed. */
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Undefined if the shape is wrong. */
  readonly piece: ReadPiece | undefined;
  /** Undefined if the file is not YAML. */
  readonly claimant: Claimant | undefined;
  readonly view: (now: EpochMs) => PolicyView | undefined | Promise<PolicyView | undefined>;
}

export interface StandIn {
  /** The refused file, as printed. */
  readonly file: string;
  readonly piece: ReadPiece;
  readonly view: PolicyView;
}

export interface LeftOut {
  readonly file: string;
  /** Its API; the name of the file, without its folder, if that is not known or another file serves it. */
  readonly api: string;
  /** Another file serves its API. */
  readonly isSpare: boolean;
  /** The routes that the file states, and those of its accepted form. */
  readonly closed: readonly ReadPiece[];
  /** False if other routes of its API may have been in force. */
  readonly isPlaced: boolean;
}

export interface RefusedFiles {
  /** Names, as printed. */
  readonly refused: readonly string[];
  /** Those of them that are refused without a look at other files. */
  readonly broken: ReadonlyMap<string, unknown>;
  readonly candidates: readonly Candidate[];
  readonly accepted: readonly Candidate[];
  readonly forms: AcceptedForms;
  readonly around: Surroundings;
}

export interface StoodIn {
  readonly standIns: readonly StandIn[];
  readonly leftOut: readonly LeftOut[];
  /** Recorded files of APIs that are left out. */
  readonly retained: readonly PublishedFile[];
}

interface Unserved {
  readonly file: string;
  readonly api: string | undefined;
  /** What the refused file states. */
  readonly own: PolicyView | undefined;
  readonly known: readonly AcceptedForm[];
}

export async function standIns(files: RefusedFiles): Promise<StoodIn> {
  const { refused, candidates, accepted, forms, around } = files;
  const served = new Set(accepted.map(({ claimant }) => claimant?.claims.api));
  const taken = new Set(accepted.map(({ file }) => file));
  const found: StandIn[] = [];
  const retained = new Set<PublishedFile>();
  const unserved: Unserved[] = [];
  const isRecorded = (file: string) => forms.textOf(file) !== undefined;
  // A file that was accepted itself comes before copies of it.
  for (const file of refused.toSorted((a, b) => Number(isRecorded(b)) - Number(isRecorded(a)))) {
    const candidate = candidates.find((each) => each.file === file);
    const api = candidate?.claimant?.claims.api;
    // By the name of the file, and by that of its API if the API was in another file.
    const others = api === undefined ? [] : forms.names.filter((name) => name !== file && !taken.has(name));
    const known: AcceptedForm[] = [];
    let stoodIn = false;
    for (const name of [file, ...others]) {
      const form = await forms.read(name);
      if (form === undefined || (name !== file && form.api !== api)) continue;
      const { piece, view } = form;
      known.push(form);
      if (piece === undefined || view === undefined) for (const each of form.files) retained.add(each);
      else if (!served.has(form.api)) {
        served.add(form.api);
        found.push({ file, piece, view });
        stoodIn = true;
      }
    }
    if (!stoodIn)
      unserved.push({ file, api: api ?? known[0]?.api, own: await candidate?.view(around.now), known });
  }
  // The same files make the same plan, in whatever order they were refused.
  found.sort((a, b) => ((a.view.parts.api ?? '') < (b.view.parts.api ?? '') ? -1 : 1));
  const leftOut = await leaveOut(unserved, served, found, files);
  return { standIns: found, leftOut, retained: [...retained] };
}

async function leaveOut(
  unserved: readonly Unserved[],
  served: ReadonlySet<string | undefined>,
  found: readonly StandIn[],
  { broken, accepted, forms, around }: RefusedFiles,
): Promise<readonly LeftOut[]> {
  const apis = new Set([...served, ...unserved.map(({ api }) => api)]);
  // A file that cannot be read may be that of a recorded API that is in no other file; on an empty store, of any.
  const recorded = await Promise.all(unserved.length === 0 ? [] : forms.names.map(forms.read));
  const isAnyMissing =
    recorded.length === 0 || recorded.some((form) => form?.api === undefined || !apis.has(form.api));
  const placesOf = (view: PolicyView) => placesIn(claimsOf(view, around.public));
  const named = new Set(served);
  return unserved.map(({ file, api, own, known }) => {
    const isNew = api !== undefined && !named.has(api);
    if (isNew) named.add(api);
    const name = isNew ? api : basename(file);
    const server = accepted.find(({ claimant }) => claimant?.claims.api === api);
    // If both files of an API are sound and neither is as it was accepted, the right one is unknown.
    const isBeside = broken.has(file) || server === undefined || isUnchanged(server, forms);
    const isSpare = api !== undefined && served.has(api) && isBeside;
    const places = [
      ...placesIn(server?.claimant?.claims),
      ...found.flatMap(({ view }) => (view.parts.api === api ? placesOf(view) : [])),
    ];
    // Below the places of its own API the rules of that API hold.
    const isOwn = (view: PolicyView) => isSpare && placesOf(view).every((place) => isWithin(place, places));
    const views = known.map(({ view }) => view);
    const areStated = (known.length > 0 ? views : [own]).every(
      (view) => view !== undefined && statesRoutes(view),
    );
    return {
      file,
      api: name,
      isSpare,
      closed: [own, ...views].flatMap((view) => (view && !isOwn(view) && closedRoutes(view, name)) || []),
      isPlaced: areStated || (known.length === 0 && !isAnyMissing),
    };
  });
}

/** Whether the file is as it was accepted. */
export function isUnchanged({ file, piece }: Candidate, forms: AcceptedForms): boolean {
  return piece?.files[0]?.text === forms.textOf(file);
}
