// Reads the ledger of a running gateway page by page, and prints it as a table, CSV or JSON.
import { readUsageAnswer, type UsageAnswer } from '../../api/usage-answers.ts';
import { usageCsv, usageCsvLines } from '../../api/usage-csv.ts';
import { failed, type GatewayAction, OTHER_EDITION, withQuery } from '../admin-call.ts';
import { jsonText, shown } from '../command-result.ts';
import { createBusiestRows } from './usage-rows.ts';
import { usageText } from './usage-text.ts';

export type UsageFormat = 'table' | 'csv' | 'json';

interface ShownUsageQuery {
  /** As given. An undefined member does not filter. */
  readonly filter: Readonly<Record<'api' | 'version' | 'consumer' | 'since', string | undefined>>;
  readonly operations: boolean;
  readonly format: UsageFormat;
}

export const USAGE = '/-/usage';
/** Time for the gateway to read its whole ledger. */
export const WITHIN_MS = 30_000;
const MAX_SHOWN = 50;

export function showUsage(question: ShownUsageQuery): GatewayAction {
  return async (gateway) => {
    const pages = collectorOf(question);
    let first: UsageAnswer | undefined;
    let after: string | undefined;
    do {
      const answered = await gateway.ask({
        method: 'GET',
        path: withQuery(USAGE, { ...question.filter, after }),
        withinMs: WITHIN_MS,
      });
      if (answered.kind === 'failed') return failed(answered, gateway.format);
      const page = readUsageAnswer(answered.body);
      if (page === undefined) return failed(OTHER_EDITION, gateway.format);
      first ??= page;
      pages.add(page);
      after = page.next ?? undefined;
    } while (after !== undefined);
    return shown(pages.text(first));
  };
}

interface Collector {
  readonly add: (page: UsageAnswer) => void;
  readonly text: (first: UsageAnswer) => string;
}

function collectorOf({ filter, operations, format }: ShownUsageQuery): Collector {
  switch (format) {
    case 'table': {
      const rows = createBusiestRows(MAX_SHOWN);
      // Undefined on a pipe.
      const colour = process.stdout.hasColors?.() ?? false;
      return {
        add: ({ consumers }) => rows.add(consumers),
        text: (answer) => usageText({ answer, rows, operations, filter, colour }),
      };
    }
    case 'csv': {
      const texts = [usageCsv([])];
      return {
        add: ({ consumers }) => texts.push(usageCsvLines(consumers)),
        text: () => texts.join(''),
      };
    }
    case 'json': {
      const consumers: UsageAnswer['consumers'] = [];
      const records: NonNullable<UsageAnswer['records']> = [];
      return {
        add: (page) => {
          consumers.push(...page.consumers);
          records.push(...(page.records ?? []));
        },
        text: (first) =>
          jsonText({ ...first, consumers, ...(first.records !== undefined && { records }), next: null }),
      };
    }
    default:
      return format satisfies never;
  }
}
