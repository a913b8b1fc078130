// The grammar of `limits` and `cost`.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { notation, parseShare, rate } from '../../policy/notation.ts';
import {
  DEFAULT_LIMIT,
  LOWERED_DEFAULT,
  type Lowering,
  parseLowering,
} from '../../policy/rate-limit/lowering.ts';

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
    .meta({ description: 'The limit falls in even steps, one a day, from the deprecation to the sunset.' })
    .transform(({ from, to }): Lowering => ({ kind: 'curve', from, to })),
]);

/** Metrics and headers use these names for lowered limits and for the guard. */
const TAKEN = new RegExp(`^guard$|(^|-)${LOWERED_DEFAULT}$`);

const limitName = notation(
  (text) => (/^[a-z][a-z0-9-]{0,30}$/.test(text) && !TAKEN.test(text) ? text : undefined),
  `not a name: a lower-case letter, then letters, digits and hyphens, and not guard or ${LOWERED_DEFAULT}`,
  { description: 'Name of the limit, also in headers; default default.', examples: ['all'] },
);

const BY = 'What is counted: each consumer, each address, or all callers together.';
const ON_STORE_FAILURE =
  'If the store is unavailable: count in process (local), admit (allow), or respond 503 (refuse)';
const EXACT = 'One store call per request instead of leases; a sliding log is always exact.';
const SHADOW = 'Whether the limit only counts and refuses nothing';
const ALGORITHM =
  'gcra allows a burst; sliding-log admits at most the rate in any window and stores one number per unit';

/** `standing`: whether defaults apply. Versions and operations inherit instead. */
const limitFields = (standing: boolean) => {
  const described = (text: string, otherwise: string) => ({
    description: standing ? `${text}; default ${otherwise}.` : `${text}.`,
  });
  return {
    rate: rate('Requests per window.').optional(),
    burst: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .meta({ description: `${GLOSSARY.burst} Default: the rate.` })
      .optional(),
    deprecated: lowering.optional(),
    by: z.enum(['consumer', 'address', 'everyone']).meta({ description: BY }).optional(),
    on_store_failure: z
      .enum(['local', 'allow', 'refuse'])
      .meta(described(ON_STORE_FAILURE, 'local'))
      .optional(),
    exact: z.boolean().meta({ description: EXACT }).optional(),
    shadow: z.boolean().meta(described(SHADOW, 'false')).optional(),
    algorithm: z.enum(['gcra', 'sliding-log']).meta(described(ALGORITHM, 'gcra')).optional(),
  };
};

/** One limit called `default`, or a list of named limits. */
const sectionOf = (standing: boolean) => {
  const fields = limitFields(standing);
  return [
    z.strictObject(fields),
    z
      .array(z.strictObject({ name: limitName.optional(), ...fields }))
      .min(1)
      .max(8),
  ] as const;
};

/** For a version or operation. A limit with an inherited name changes it. A limit with a new name is added. */
export const versionLimitsSection = z
  .union([z.literal('off'), ...sectionOf(false)])
  .meta({ description: 'Limits of this version or operation alone, or off.' });

export const limitsSection = z
  .union(sectionOf(true))
  .meta({ description: 'Rate limits per version and stage: one limit, or a list of named limits.' });

export const costSection = z
  .int()
  .min(1)
  .max(1_000_000)
  .meta({ description: 'Units that a request to this operation takes from each limit; default 1.' });

export type WrittenLimits = z.output<typeof versionLimitsSection> | undefined;
export type NamedLimit = z.output<ReturnType<typeof sectionOf>[0]> & {
  readonly name: string;
  /** The index in a list of limits. */
  readonly index: number | undefined;
};

/** In file order. Empty without limits and for `off`. */
export function namedLimits(limits: WrittenLimits): readonly NamedLimit[] {
  if (limits === undefined || limits === 'off') return [];
  if (!Array.isArray(limits)) return [{ ...limits, name: DEFAULT_LIMIT, index: undefined }];
  return limits.map(({ name = DEFAULT_LIMIT, ...limit }, index) => ({ ...limit, name, index }));
}

type Steps = readonly (string | number)[];

/** The path of a limit. `owner`: the path of the API (empty), version or operation. */
export function placeOfLimit(owner: Steps, { index }: Pick<NamedLimit, 'index'>): Steps {
  return index === undefined ? [...owner, 'limits'] : [...owner, 'limits', index];
}
