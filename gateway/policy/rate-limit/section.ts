// The `limits` sections of a policy file and the `guard` of the gateway.
// Inheritance from API to version is resolved when the plan is compiled.
import { z } from 'zod';
import { notation, parseRate, type Rate, rate } from '../notation.ts';
import type { Lowering } from './lowering.ts';

/** `50%` (1 to 100) or a rate; undefined for any other text. */
export function parseLowering(text: string): Lowering | undefined {
  const factor = parseShare(text);
  if (factor !== undefined) return { kind: 'factor', factor };
  const absolute = parseRate(text);
  return absolute && { kind: 'absolute', ...absolute };
}

/** `50%` to 0.5; undefined for any other text. */
function parseShare(text: string): number | undefined {
  const percent = /^([1-9]\d?|100)%$/.exec(text)?.[1];
  return percent === undefined ? undefined : Number(percent) / 100;
}

const share = (description: string) =>
  notation(parseShare, 'not a share such as 50%', { description, examples: ['50%'] });

const lowering = z.union([
  notation(parseLowering, 'not a share such as 50% or a rate such as 120/1m', {
    description: 'The limit while deprecated: a share of the rate, or a rate.',
    examples: ['50%', '120/1m'],
  }),
  z
    .strictObject({
      from: share('Share of the rate on the first day of the deprecation.'),
      to: share('Share of the rate on the last day before the sunset.'),
    })
    .meta({ description: 'A curve: falls in even steps, one a day, from the deprecation to the sunset.' })
    .transform(({ from, to }): Lowering => ({ kind: 'curve', from, to })),
]);

const own = {
  rate: rate('Requests per window.').optional(),
  burst: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .meta({ description: 'Room for this many at once; default: the rate.' })
    .optional(),
  deprecated: lowering.optional(),
};

/** Limits of one version or operation; what is absent is inherited from the larger whole, with `off` nothing is. */
export const versionLimitsSection = z
  .union([z.literal('off'), z.strictObject(own)])
  .meta({ description: 'Limits of this version or operation alone, or off.' });

/** What is written of limits: nothing of them where there are to be none. */
export function writtenLimits<Limits>(limits: Limits | 'off' | undefined): Limits | undefined {
  return limits === 'off' ? undefined : limits;
}

export const limitsSection = z
  .strictObject({
    ...own,
    by: z.enum(['consumer', 'address']).meta({ description: 'Who is counted.' }).optional(),
    on_store_failure: z
      .enum(['local', 'allow', 'refuse'])
      .meta({ description: 'When the store is away: count in process, let pass, or 503; default local.' })
      .optional(),
    exact: z.boolean().meta({ description: 'One store call per request instead of leases.' }).optional(),
  })
  .meta({ description: 'How much one caller may call, per version and stage.' });

/** Per address, before authentication. */
export const guardSection = notation(
  (text): Rate | 'off' | undefined => (text === 'off' ? 'off' : parseRate(text)),
  'not a rate such as 600/1m, or off',
  {
    description: 'Requests one address may make, before anything costly is done; off to disable.',
    examples: ['600/1m', 'off'],
  },
);
