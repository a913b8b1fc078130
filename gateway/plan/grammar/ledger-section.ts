// The grammar of `ledger` in gateway.yaml: whether and how long calls of deprecated versions are recorded.
import { z } from 'zod';
import { notation, parseDuration } from '../../policy/notation.ts';

export const LEDGER_DEFAULTS = { keep: '400d' } as const;

const DAY_MS = 86_400_000;

/** Days. Undefined if the text is not a whole number of days. */
function parseDays(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined || ms % DAY_MS !== 0 ? undefined : ms / DAY_MS;
}

export const wholeLedger = z.strictObject({
  keep: notation(parseDays, 'not a number of whole days such as 400d', {
    description: `Time for which the record of a day is kept. Default ${LEDGER_DEFAULTS.keep}.`,
    examples: ['400d', '90d'],
  }),
});

export const ledgerSection = z.union([z.literal('off'), wholeLedger.partial()]);
