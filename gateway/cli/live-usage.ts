// Fetches the ledger of the running gateway for `check --live` and `diff --live`.

import { readUsageAnswer, type UsageAnswer, type UsageRowBody } from '../api/usage-answers.ts';
import type { PolicySource } from '../plan/load-documents.ts';
import { versionsOf } from '../plan/versions.ts';
import { type GatewayClient, OTHER_EDITION, withQuery } from './admin-call.ts';
import { openGateway } from './admin-client.ts';
import type { WhichGateway } from './running-gateway.ts';

export interface LiveUsage {
  readonly kind: 'usage';
  /** The gateway's lifecycle clock, RFC 3339. */
  readonly now: string;
  /** By number of days. USUAL_DAYS is always present. */
  readonly answers: ReadonlyMap<number, UsageAnswer>;
  /** Consumers of versions with a freeze, in the last USUAL_DAYS. */
  readonly callers: readonly UsageRowBody[];
}

export type FetchedUsage = LiveUsage | { readonly kind: 'absent'; readonly why: string };

export const USUAL_DAYS = 30;
/** Longer than the gateway waits for a slow store. */
const WITHIN_MS = 30_000;
const ALL_WITHIN_MS = 60_000;
/** Covers a hundred thousand consumers of a version. Further ones are not counted. */
const MAX_PAGES = 200;

type AbsentUsage = Extract<FetchedUsage, { kind: 'absent' }>;
type Ask = (query: Readonly<Record<string, string>>) => Promise<UsageAnswer | AbsentUsage>;

export async function fetchUsage(
  sources: readonly PolicySource[],
  which: WhichGateway,
): Promise<FetchedUsage> {
  const ask = askingFor(ALL_WITHIN_MS, openGateway(which));
  const versions = sources.flatMap(({ file }) =>
    [...versionsOf(file)].map(([version, rules]) => ({ api: file.api, version, ...rules })),
  );
  const days = new Set([USUAL_DAYS, ...versions.flatMap(({ retire_when }) => retire_when?.days ?? [])]);
  const answers = new Map<number, UsageAnswer>();
  for (const each of days) {
    const answer = await ask({ since: `${each}d` });
    if ('why' in answer) return answer;
    answers.set(each, answer);
  }
  const first = answers.get(USUAL_DAYS);
  if (first === undefined) throw new Error('the answer for a month is missing');
  const callers: UsageRowBody[] = [];
  for (const { api, version, freeze } of versions) {
    // The gateway may not know the version yet. It then has no calls, and asking would be an error.
    const isKnown = first.versions?.some((each) => each.api === api && each.version === version) ?? false;
    const rows = freeze !== undefined && isKnown ? await callersOf({ api, version }, ask) : [];
    // An incomplete read cannot prove how many consumers are affected.
    if ('why' in rows) return rows;
    callers.push(...rows);
  }
  return { kind: 'usage', now: first.now, answers, callers };
}

async function callersOf(
  version: { readonly api: string; readonly version: string },
  ask: Ask,
): Promise<readonly UsageRowBody[] | AbsentUsage> {
  const rows: UsageRowBody[] = [];
  let next: string | null | undefined;
  for (let page = 0; next !== null && page < MAX_PAGES; page += 1) {
    const after = next === undefined ? {} : { after: next };
    const answer = await ask({ since: `${USUAL_DAYS}d`, ...version, ...after });
    if ('why' in answer) return answer;
    rows.push(...answer.consumers);
    next = answer.next;
  }
  return rows;
}

/** Each page has a timeout of its own, and all together have `allWithinMs`. */
function askingFor(allWithinMs: number, gateway: GatewayClient): Ask {
  const end = performance.now() + allWithinMs;
  return async (query) => {
    const withinMs = Math.min(WITHIN_MS, Math.ceil(end - performance.now()));
    if (withinMs <= 0)
      return absent(`the gateway did not return all records within ${allWithinMs / 1_000} seconds`);
    const answered = await gateway.ask({ method: 'GET', path: withQuery('/-/usage', query), withinMs });
    if (answered.kind === 'failed') return absent(answered.text);
    return readUsageAnswer(answered.body) ?? absent(OTHER_EDITION.text);
  };
}

function absent(text: string): AbsentUsage {
  return { kind: 'absent', why: text.replace(/^sundial: /, '').trim() };
}
