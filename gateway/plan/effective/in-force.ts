// The effective configuration of a running gateway: of the files its plan was made of, whatever stands on the disk by now.
// Put together when somebody asks; nothing but the texts is kept for it.
import { createTurns, inSlices } from '../in-slices.ts';
import type { LoadOptions } from '../load-documents.ts';
import type { PublishedFile } from '../published-record.ts';
import type { SourceDocument } from '../read/document.ts';
import { readRecorded } from '../recorded-files.ts';
import { type EffectiveConfig, effectiveSteps } from './effective.ts';

export interface InForce {
  readonly revision: string;
  /** As it was read at start. */
  readonly gateway: SourceDocument;
  readonly files: readonly PublishedFile[];
}

/** With every default filled in. In short turns: requests are answered meanwhile, however many files there are. */
export async function effectiveInForce(
  { revision, gateway, files }: InForce,
  options: LoadOptions,
): Promise<EffectiveConfig> {
  const { sources } = await readRecorded(files, options, createTurns());
  const policies = sources.map(({ document }) => document);
  return inSlices(effectiveSteps({ revision, gateway, policies, defaults: true }));
}
