// What the running gateway's ledger has, for commands that hold files against it: `check --live` and `diff --live`.
// Asked through the admin API of the gateway file; that none answers is a sentence for people and no finding.
import type { PolicySource } from '../../plan/load-documents.ts';
import { readUsageAnswer, type UsageAnswer, type UsageRowBody } from '../../plan/usage-answers.ts';
import { versionsOf } from '../../plan/versions.ts';
import { askAdmin } from '../admin-client.ts';
import { type AdminDoor, findGateway, type WhichGateway } from '../running-gateway.ts';

export interface LiveUsage {
  readonly kind: 'usage';
  /** The lifecycle clock of the gateway, RFC 3339. */
  readonly now: string;
  /** By the days counted; those of a month are always there. */
  readonly answers: ReadonlyMap<number, UsageAnswer>;
  /** Of versions with a freeze: who calls, in the last month. */
  readonly callers: readonly UsageRowBody[];
}

export type AskedUsage = LiveUsage | { readonly kind: 'absent'; readonly why: string };

export const USUAL_DAYS = 30;
/** Longer than a gateway takes to say that its store is slow. */
const WITHIN_MS = 30_000;
/** A hundred thousand consumers; whoever has more sees the first of them counted. */
const MOST_PAGES = 200;

export async function askUsage(sources: readonly PolicySource[], which: WhichGateway): Promise<AskedUsage> {
  const door = await findGateway(which);
  if (door.kind === 'failed') return absent(door.text);
  const versions = sources.flatMap(({ file }) => [...versionsOf(file).values()]);
  const days = new Set([USUAL_DAYS, ...versions.flatMap(({ retire_when }) => retire_when?.days ?? [])]);
  const answers = new Map<number, UsageAnswer>();
  for (const each of days) {
    const answer = await askPage(door, { since: `${each}d` });
    if ('why' in answer) return answer;
    answers.set(each, answer);
  }
  const first = answers.get(USUAL_DAYS);
  if (first === undefined) throw new Error('a month was asked for');
  const callers = versions.some(({ freeze }) => freeze !== undefined) ? await allRows(door, first) : [];
  return 'why' in callers ? callers : { kind: 'usage', now: first.now, answers, callers };
}

async function allRows(
  door: AdminDoor,
  first: UsageAnswer,
): Promise<readonly UsageRowBody[] | Extract<AskedUsage, { kind: 'absent' }>> {
  const rows = [...first.consumers];
  let { next } = first;
  for (let page = 1; next !== null && page < MOST_PAGES; page += 1) {
    const answer = await askPage(door, { since: `${USUAL_DAYS}d`, after: next });
    // Of a part nobody can say how many it would meet.
    if ('why' in answer) return answer;
    rows.push(...answer.consumers);
    next = answer.next;
  }
  return rows;
}

async function askPage(
  door: AdminDoor,
  query: Readonly<Record<string, string>>,
): Promise<UsageAnswer | Extract<AskedUsage, { kind: 'absent' }>> {
  const path = `/-/usage?${new URLSearchParams(query)}`;
  const answered = await askAdmin(door, { method: 'GET', path, withinMs: WITHIN_MS });
  if (answered.kind === 'failed') return absent(answered.text);
  return readUsageAnswer(answered.body) ?? absent('the gateway is of another edition than this command');
}

function absent(text: string): Extract<AskedUsage, { kind: 'absent' }> {
  return { kind: 'absent', why: text.replace(/^sundial: /, '').trim() };
}
