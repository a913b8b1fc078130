// Makes the next plan from the reader's answers: transfers and compiles changed policies only, in slices.
import { setImmediate } from 'node:timers/promises';
import { inSlices } from '../../system/time-slices.ts';
import { compileApi, planSteps } from '../compile/plan.ts';
import type { PolicyReader, ReadSummary } from '../loader-thread/reader-contract.ts';
import type { ApiPlan, GatewayPlan } from '../plan.ts';
import type { Problem } from '../problems.ts';
import type { FormerVersion, PublishedEntry } from '../published/record.ts';
import type { Settings } from '../settings.ts';
import type { PlanPiece, ReadPiece } from './pieces.ts';

/** Batch sizes. Requests wait while a batch is copied between the threads. */
const PIECES_AT_ONCE = 16;
const PROBLEMS_AT_ONCE = 200;
const ENTRIES_AT_ONCE = 100;

export interface NextPlan {
  readonly plan: GatewayPlan;
  readonly pieces: readonly PlanPiece[];
}

export interface NextPlanOptions {
  readonly settings: Settings;
  readonly keepsFiles: boolean;
}

/** `current`: the pieces of the plan in force. The next plan shares unchanged ones. */
export async function makeNextPlan(
  reader: Pick<PolicyReader, 'pieces'>,
  summary: Pick<ReadSummary, 'digests'> & { readonly revision: string },
  current: readonly PlanPiece[],
  options: NextPlanOptions,
): Promise<NextPlan> {
  const { settings } = options;
  const { digests, revision } = summary;
  const known = new Map<string, PlanPiece>();
  const missing = await inSlices(missingSteps(digests, current, known));
  for (const part of batches(missing, PIECES_AT_ONCE)) {
    const read = await reader.pieces(part);
    await inSlices(compileSteps(read, options, known));
    await setImmediate();
  }
  const pieces = await inSlices(orderedSteps(digests, known));
  return { plan: await inSlices(planSteps({ settings, apis: apisOf(pieces), revision })), pieces };
}

export function allProblems(reader: PolicyReader, count: number): Promise<readonly Problem[]> {
  return readInBatches(count, PROBLEMS_AT_ONCE, (from, to) => reader.problems(from, to));
}

export function allFormer(reader: PolicyReader, count: number): Promise<readonly FormerVersion[]> {
  return readInBatches(count, ENTRIES_AT_ONCE, (from, to) => reader.former(from, to));
}

export async function recallAll(reader: PolicyReader, recorded: readonly PublishedEntry[]): Promise<void> {
  for (const part of batches(recorded, ENTRIES_AT_ONCE)) {
    await reader.recall(part);
    await setImmediate();
  }
}

async function readInBatches<T>(
  count: number,
  atOnce: number,
  read: (from: number, to: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let from = 0; from < count; from += atOnce) {
    all.push(...(await read(from, from + atOnce)));
    await setImmediate();
  }
  return all;
}

/** The digests without a piece in `current`. Also fills `known` with the pieces of `current`. */
function* missingSteps(
  digests: readonly string[],
  current: readonly PlanPiece[],
  known: Map<string, PlanPiece>,
): Generator<void, readonly string[]> {
  for (const piece of current) {
    known.set(piece.digest, piece);
    yield;
  }
  const missing: string[] = [];
  for (const digest of digests) {
    if (!known.has(digest)) missing.push(digest);
    yield;
  }
  return missing;
}

function* orderedSteps(
  digests: readonly string[],
  known: ReadonlyMap<string, PlanPiece>,
): Generator<void, readonly PlanPiece[]> {
  const pieces: PlanPiece[] = [];
  for (const digest of digests) {
    const piece = known.get(digest);
    if (piece === undefined) throw new Error('the reader of policies has lost some');
    pieces.push(piece);
    yield;
  }
  return pieces;
}

function* compileSteps(
  read: readonly ReadPiece[],
  { settings, keepsFiles }: NextPlanOptions,
  known: Map<string, PlanPiece>,
): Generator<void, void> {
  for (const { digest, file, files } of read) {
    const kept = keepsFiles ? file : undefined;
    known.set(digest, { digest, files, api: compileApi(file, settings), file: kept });
    yield;
  }
}

function* apisOf(pieces: readonly PlanPiece[]): Generator<ApiPlan, void> {
  for (const { api } of pieces) yield api;
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[], void> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
