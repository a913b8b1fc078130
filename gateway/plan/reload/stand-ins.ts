// Finds the last accepted form that stands in for each refused file.
import { basename } from 'node:path';
import type { EpochMs } from '../../policy/contract.ts';
import type { CheckContext, PolicyView } from '../../sections/view.ts';
import type { Problem } from '../problems.ts';
import type { AcceptedForm, AcceptedForms } from '../published/accepted-forms.ts';
import { isWithin, placesIn } from '../published/current-policies.ts';
import type { PublishedFile } from '../published/record.ts';
import { closedRoutes, hasReadableRoutes, statesRoutes } from '../routes/closed-routes.ts';
import { type OutlinedPolicy, outlineOf } from '../rules/together.ts';
import type { ReadPiece } from './pieces.ts';

/** A policy file as read from the disk. */
export interface Candidate {
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Undefined if the shape is wrong. */
  readonly piece: ReadPiece | undefined;
  /** Undefined if the file is not YAML. */
  readonly outlined: OutlinedPolicy | undefined;
  readonly view: (now: EpochMs) => PolicyView | undefined | Promise<PolicyView | undefined>;
}

export interface StandIn {
  readonly file: string;
  readonly piece: ReadPiece;
  readonly view: PolicyView;
  /** Routes in the refused file that its API does not have. */
  readonly closed: readonly ReadPiece[];
}

export interface LeftOut {
  readonly file: string;
  /** Its API. The file name without its folder, if the API is unknown or another file serves it. */
  readonly api: string;
  readonly isSpare: boolean;
  /** Another file describes its API. Both are valid, and neither equals its accepted form. */
  readonly isRival: boolean;
  /** The routes of the file and of its accepted form. */
  readonly closed: readonly ReadPiece[];
  /** False if the routes are in neither: the record may lack an API that was in force. */
  readonly isPlaced: boolean;
}

export interface RefusedFiles {
  readonly refused: readonly string[];
  /** The files that are refused because of their own errors. */
  readonly broken: ReadonlyMap<string, unknown>;
  readonly candidates: readonly Candidate[];
  readonly accepted: readonly Candidate[];
  readonly forms: AcceptedForms;
  readonly checkContext: CheckContext;
}

export interface ReplacedFiles {
  readonly findStandIns: readonly StandIn[];
  readonly leftOut: readonly LeftOut[];
  readonly retained: readonly PublishedFile[];
}

export async function standIns(files: RefusedFiles): Promise<ReplacedFiles> {
  const { refused, broken, candidates, accepted, forms, checkContext } = files;
  const servers = new Map(accepted.map((each) => [each.outlined?.outline.api, each]));
  const candidateOf = new Map(candidates.map((each) => [each.file, each]));
  const apiOf = (file: string) => candidateOf.get(file)?.outlined?.outline.api;
  const others = await forms.besides(accepted.flatMap(({ piece }) => piece ?? []));
  const byApi = new Map(others.toReversed().map((form) => [form.api ?? form, form]));
  const placed = assignForms(
    // A file that was accepted itself takes precedence over copies.
    refused.toSorted((a, b) => Number(forms.names.has(b)) - Number(forms.names.has(a))),
    [...byApi.values()].filter(({ api }) => api === undefined || !servers.has(api)),
    candidateOf,
  );
  const found: StandIn[] = [];
  const leftOut: LeftOut[] = [];
  const own = async (file: string) => candidateOf.get(file)?.view(checkContext.now);
  const placesOf = (view: PolicyView) => placesIn(outlineOf(view, checkContext.public));
  /** Without routes at or below `places`: the rules of its API apply there. */
  const closedRoutesOf = (view: PolicyView | undefined, name: string, places: readonly string[] = []) => {
    if (view === undefined) return [];
    const piece = closedRoutes(view, name);
    if (piece === undefined) return [];
    const stated = placesOf({ ...view, parts: piece.file });
    return stated.every((place) => isWithin(place, places)) ? [] : [piece];
  };
  const retained: PublishedFile[] = [];
  for (const { file, form } of placed) {
    const { piece, view } = form;
    const stated = await own(file);
    if (piece !== undefined && view !== undefined)
      found.push({ file, piece, view, closed: closedRoutesOf(stated, basename(file), placesOf(view)) });
    else {
      const api = form.api ?? basename(file);
      const isPlaced = view !== undefined && hasReadableRoutes(view);
      const closed = [...closedRoutesOf(stated, api), ...closedRoutesOf(view, api)];
      leftOut.push({ file, api, isSpare: false, isRival: false, closed, isPlaced });
      retained.push(...form.files);
    }
  }
  // The same files make the same plan, in any order of refusal.
  found.sort((a, b) => ((a.view.parts.api ?? '') < (b.view.parts.api ?? '') ? -1 : 1));
  const served = new Map(found.map(({ view }) => [view.parts.api, view]));
  const named = new Set([...servers.keys(), ...served.keys(), ...leftOut.map(({ api }) => api)]);
  for (const file of refused) {
    if (placed.some((each) => each.file === file && each.isOwn)) continue;
    const api = apiOf(file);
    const server = servers.get(api);
    // If both files of an API are valid and neither is unchanged, the right one is unknown.
    const isBeside = broken.has(file) || server === undefined || isUnchanged(server, forms);
    const stoodIn = served.get(api);
    const isSpare = api !== undefined && (server ?? stoodIn) !== undefined && isBeside;
    const places = [...placesIn(server?.outlined?.outline), ...(stoodIn ? placesOf(stoodIn) : [])];
    const view = await own(file);
    const name = api === undefined || named.has(api) ? basename(file) : api;
    named.add(name);
    leftOut.push({
      ...{ file, api: name, isSpare, isRival: !isBeside },
      closed: closedRoutesOf(view, name, isSpare ? places : []),
      isPlaced: view !== undefined && statesRoutes(view, candidateOf.get(file)?.problems ?? []),
    });
  }
  return { findStandIns: found, leftOut, retained };
}

interface AssignedForm {
  readonly file: string;
  readonly form: AcceptedForm;
  /** False if the file names another API, one without an accepted form. */
  readonly isOwn: boolean;
}

/** Assigns each API without an accepted file to a refused file. An API that gets none was removed. */
function assignForms(
  refused: readonly string[],
  absent: readonly AcceptedForm[],
  candidateOf: ReadonlyMap<string, Candidate>,
): readonly AssignedForm[] {
  const apiOf = (file: string) => candidateOf.get(file)?.outlined?.outline.api;
  const left = new Set(absent);
  const placed: AssignedForm[] = [];
  const has = (file: string) => placed.some((each) => each.file === file);
  const placeAll = (matches: (file: string, form: AcceptedForm) => boolean) => {
    for (const file of refused)
      for (const form of left)
        if (matches(file, form) && left.delete(form)) placed.push({ file, form, isOwn: true });
  };
  placeAll((file, { api }) => api !== undefined && api === apiOf(file));
  // The remaining forms may belong to any of these files. Files with new names come first.
  const unsure = refused.filter((file) => candidateOf.has(file) && !has(file)).toReversed();
  placeAll((file, { name }) => name === file && !has(file));
  const free = unsure.filter((file) => apiOf(file) === undefined && !has(file));
  const rest = [...left].flatMap((form, index) => {
    const named = refused.find((file) => file === form.name);
    const file = free[index % free.length] ?? named ?? unsure[index % unsure.length];
    return file === undefined ? [] : { file, form, isOwn: file === named || apiOf(file) === undefined };
  });
  return [...placed, ...rest];
}

export function isUnchanged({ piece }: Candidate, forms: AcceptedForms): boolean {
  return forms.includes(piece);
}
