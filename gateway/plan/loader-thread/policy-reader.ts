// Reads and checks the policies of a reload, with a cache for unchanged files.
import type { EpochMs } from '../../policy/contract.ts';
import { contextOf, documentOf } from '../load-documents.ts';
import type { DescriptionCache } from '../openapi/read-descriptions.ts';
import { hasErrors, type Problem, sortProblems } from '../problems.ts';
import { comparePublished } from '../published/comparison.ts';
import { type CurrentPolicies, currentPoliciesOf } from '../published/current-policies.ts';
import type { FormerVersion, PublishedEntry } from '../published/record.ts';
import { digest, findFiles, type ReadFile, tryRead } from '../read/files.ts';
import { nothingMatched } from '../read/unreadable.ts';
import { type ReadPiece, revisionOf } from '../reload/pieces.ts';
import { settle } from '../reload/settle.ts';
import { checkTogether } from '../rules/together.ts';
import { type CachedPolicy, createPolicyCache } from './policy-cache.ts';
import type { PolicyReader, ReaderStart } from './reader-contract.ts';

export function createPolicyReader(start: ReaderStart, readFile?: ReadFile): PolicyReader {
  const { checkContext, settingsRevision } = start;
  const context = contextOf({ ...start, now: 0, ...(readFile && { readFile }), descriptions: new Map() });
  const publishedDescriptions: DescriptionCache = new Map();
  const policyCache = createPolicyCache(context, checkContext);
  let policies: readonly CachedPolicy[] = [];
  let problems: readonly Problem[] = [];
  let recorded: PublishedEntry[] = [];
  let former: readonly FormerVersion[] = [];
  let unmatched: Problem | undefined;
  let handed: readonly ReadPiece[] = [];

  return {
    read: async (now) => {
      const gateway = await tryRead(context.configFile, context.readFile);
      const { files, why } = await findFiles(start.patterns);
      unmatched =
        files.length > 0
          ? undefined
          : nothingMatched(context, documentOf(context, context.configFile, gateway), why);
      policies = await policyCache.read(files, now);
      problems = sortProblems([
        ...(unmatched === undefined ? [] : [unmatched]),
        ...policies.flatMap((policy) => policy.problems),
        ...checkTogether(policies.flatMap(({ outlined }) => outlined ?? [])),
      ]);
      handed = hasErrors(problems) ? [] : policies.flatMap(({ piece }) => piece ?? []);
      const digests = handed.map(({ digest }) => digest);
      return {
        revision: hasErrors(problems) ? undefined : revisionOf(settingsRevision, digests),
        digests,
        problems: problems.length,
        descriptions: policies.flatMap(({ descriptions }) => descriptions),
        restartNeeded: gateway.kind === 'read' && digest([gateway.bytes]) !== settingsRevision,
      };
    },
    recall: async (entries) => {
      recorded.push(...entries);
    },
    compare: async (now) => {
      const found = await comparePublished(
        {
          recorded,
          files: policies.flatMap(({ piece }) => piece?.files ?? []),
          today: currentPoliciesIn(policies, now, checkContext.public),
        },
        { ...start, now, descriptions: publishedDescriptions },
      );
      recorded = [];
      policyCache.dropViews();
      problems = sortProblems([...problems, ...found.problems]);
      ({ former } = found);
      return { problems: problems.length, former: former.length, hasErrors: hasErrors(problems) };
    },
    settle: async (now) => {
      const settled = await settle(
        { candidates: policies, unmatched, recorded },
        { ...context, now, descriptions: publishedDescriptions },
        { ...checkContext, now },
      );
      recorded = [];
      policyCache.dropViews();
      problems = sortProblems(settled.problems);
      ({ former } = settled);
      handed = settled.pieces;
      const digests = handed.map(({ digest }) => digest);
      const { quarantined, retained, unplaced, hasRivals } = settled;
      return {
        ...{ quarantined, retained, unplaced, hasRivals },
        ...{ digests, revision: revisionOf(settingsRevision, digests) },
        ...{ problems: problems.length, former: former.length },
      };
    },
    former: async (from, to) => former.slice(from, to),
    pieces: async (digests) => {
      const byDigest = new Map(handed.map((piece) => [piece.digest, piece]));
      return digests.flatMap((each) => byDigest.get(each) ?? []);
    },
    problems: async (from, to) => problems.slice(from, to),
    endLoad: () => undefined,
    close: async () => undefined,
  };
}

/** By the name of the API. Every policy has one: files with errors are not compared. */
function currentPoliciesIn(
  policies: readonly CachedPolicy[],
  now: EpochMs,
  origin: string | undefined,
): CurrentPolicies {
  const byName = new Map(policies.map((policy) => [policy.outlined?.outline.api, policy]));
  const outline = policies.flatMap(({ outlined }) => outlined?.outline ?? []);
  return currentPoliciesOf(outline, (api) => byName.get(api)?.view(now), { complete: true, public: origin });
}
