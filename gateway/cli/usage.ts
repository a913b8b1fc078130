// `sundial usage`: who still calls what is deprecated, how that changes, and what is safe to retire; and forgetting a consumer.
// Speaks to the admin listener of a running gateway, which has the ledger.
import { readErasedAnswer, readUsageAnswer, type UsageAnswer } from '../api/usage-answers.ts';
import { usageCsv, usageCsvLines } from '../api/usage-csv.ts';
import { counted } from '../policy/notation.ts';
import { type AdminAsk, askAdmin } from './admin-client.ts';
import type { ApartResult } from './check.ts';
import { failed, told } from './operator-result.ts';
import {
  type AdminDoor,
  type Failure,
  failure,
  findGateway,
  OTHER_EDITION,
  type WhichGateway,
} from './running-gateway.ts';
import { printable } from './terminal-text.ts';
import { createBusiestRows } from './usage-rows.ts';
import { usageText } from './usage-text.ts';

export type UsageFormat = 'table' | 'csv' | 'json';

export interface UsageOptions extends WhichGateway {
  readonly format: UsageFormat;
  readonly ask: UsageAsk;
  readonly colour: boolean;
  /** Asks whoever sits there; undefined: nobody does. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
}

export type UsageAsk =
  | {
      readonly kind: 'show';
      /** As written; what is undefined is everything. */
      readonly filter: Readonly<Record<'api' | 'version' | 'consumer' | 'since', string | undefined>>;
      readonly operations: boolean;
    }
  | {
      readonly kind: 'erase';
      readonly consumer: string;
      /** Not to be asked. */
      readonly sure: boolean;
      readonly by: string | undefined;
      readonly why: string | undefined;
    };

const USAGE = '/-/usage';
/** A gateway reads its whole ledger for it. */
const WITHIN_MS = 30_000;
const MOST_SHOWN = 50;

export async function runUsage({ ask, confirm, colour, ...options }: UsageOptions): Promise<ApartResult> {
  const { format, ...which } = options;
  const asJson = format === 'json' ? 'json' : 'text';
  if (ask.kind === 'erase' && !ask.sure) {
    const question = `Erase all that is kept of ${printable(ask.consumer)}? It cannot be had back.`;
    if (confirm === undefined)
      return failed(failure(2, 'nobody is there to ask whether this is meant: say --yes'), asJson);
    if (!(await confirm(question))) return failed(failure(1, 'nothing was erased'), asJson);
  }
  const door = await findGateway(which);
  if (door.kind === 'failed') return failed(door, asJson);
  switch (ask.kind) {
    case 'show': {
      const shown = await show(door, ask, { format, colour });
      return shown.kind === 'failed'
        ? failed(shown, asJson)
        : { exitCode: 0, stdout: shown.text, stderr: '' };
    }
    case 'erase': {
      const { consumer, by, why } = ask;
      const path = `${USAGE}?${new URLSearchParams({ consumer })}`;
      const body = { ...(by !== undefined && { by }), ...(why !== undefined && { why }) };
      const answer = await askAdmin(door, { method: 'DELETE', path, body, withinMs: WITHIN_MS });
      const render = ({ erased }: { readonly erased: number }) =>
        erased === 0
          ? `The ledger has nothing of ${printable(consumer)}.\n`
          : `Erased ${counted(erased, 'record')} of ${printable(consumer)}. Calls from now on are counted again.\n`;
      return told(answer, readErasedAnswer, { format: asJson, render });
    }
    default:
      return ask satisfies never;
  }
}

type Shown = { readonly kind: 'shown'; readonly text: string };

async function show(
  door: AdminDoor,
  { filter, operations }: Extract<UsageAsk, { kind: 'show' }>,
  { format, colour }: { readonly format: UsageFormat; readonly colour: boolean },
): Promise<Shown | Failure> {
  const first = await askPage(door, filter);
  if (first.kind === 'failed') return first;
  switch (format) {
    case 'table': {
      const rows = createBusiestRows(MOST_SHOWN);
      const failure = await eachPage(door, filter, first, ({ consumers }) => rows.add(consumers));
      return failure ?? shown(usageText({ answer: first.answer, rows, operations, filter, colour }));
    }
    case 'csv': {
      const texts = [usageCsv([])];
      const failure = await eachPage(door, filter, first, ({ consumers }) =>
        texts.push(usageCsvLines(consumers)),
      );
      return failure ?? shown(texts.join(''));
    }
    case 'json': {
      const whole = { ...first.answer, consumers: [...first.answer.consumers], next: null };
      const records = first.answer.records;
      const failure = await eachPage(door, filter, first, (page) => {
        if (page === first.answer) return;
        whole.consumers.push(...page.consumers);
        records?.push(...(page.records ?? []));
      });
      return failure ?? shown(`${JSON.stringify(whole, undefined, 2)}\n`);
    }
    default:
      return format satisfies never;
  }
}

interface Page {
  readonly kind: 'page';
  readonly answer: UsageAnswer;
}

type Filter = Extract<UsageAsk, { kind: 'show' }>['filter'];

/** `take` is given the first page too. The failure of a later one is that of the whole. */
async function eachPage(
  door: AdminDoor,
  filter: Filter,
  first: Page,
  take: (answer: UsageAnswer) => unknown,
): Promise<Failure | undefined> {
  let page = first;
  for (;;) {
    take(page.answer);
    const { next } = page.answer;
    if (next === null) return undefined;
    const following = await askPage(door, filter, next);
    if (following.kind === 'failed') return following;
    page = following;
  }
}

async function askPage(door: AdminDoor, filter: Filter, after?: string): Promise<Page | Failure> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter, after }))
    if (value !== undefined) query.set(name, value);
  const ask: AdminAsk = {
    method: 'GET',
    path: query.size === 0 ? USAGE : `${USAGE}?${query}`,
    withinMs: WITHIN_MS,
  };
  const answered = await askAdmin(door, ask);
  if (answered.kind === 'failed') return answered;
  const answer = readUsageAnswer(answered.body);
  return answer === undefined ? OTHER_EDITION : { kind: 'page', answer };
}

function shown(text: string): Shown {
  return { kind: 'shown', text };
}
