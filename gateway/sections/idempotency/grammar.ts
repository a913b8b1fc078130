// The grammar of `idempotency` for an API, a version and an operation.
import { z } from 'zod';
import { KEYED_METHODS } from '../../policy/idempotency/rules.ts';
import { notation, oneOf, parseSize, wholeSeconds } from '../../policy/notation.ts';

const WRITTEN = {
  methods: ['POST', 'PUT'],
  required: false,
  keep: '24h',
  unknown: 'hold',
  server_errors: 'release',
  anonymous: 'refuse',
  max_body: '1MB',
  max_answer: '1MB',
} as const;

/** The gateway holds both in memory, for many requests at the same time. */
const LARGEST = 16 * 1_024 ** 2;

const sizeUpTo = (description: string) =>
  notation(
    (text) => {
      const bytes = parseSize(text);
      return bytes !== undefined && bytes <= LARGEST ? bytes : undefined;
    },
    'not a size such as 64KB or 1MB, of 16MB at most',
    { description, examples: ['64KB', '1MB'] },
  );

/** `says` appends the default. Only the API has one, because versions and operations inherit. */
function fieldsWith(describe: (what: string, key: keyof typeof WRITTEN) => string) {
  return {
    methods: z
      .array(z.enum(KEYED_METHODS))
      .min(1)
      .meta({ description: describe('Methods whose requests may have a key.', 'methods') })
      .optional(),
    required: z
      .boolean()
      .meta({ description: describe('Whether a key is required: 400 without one.', 'required') })
      .optional(),
    keep: wholeSeconds(describe('How long the outcome of a request is kept for its key.', 'keep')).optional(),
    unknown: oneOf(
      ['hold', 'release'],
      describe(
        'Key of a request with an unknown outcome: it gets 409 for the keep time (hold), or is free (release).',
        'unknown',
      ),
    ),
    server_errors: oneOf(
      ['release', 'replay'],
      describe('A 5xx of the upstream frees the key (release), or is replayed (replay).', 'server_errors'),
    ),
    anonymous: oneOf(
      ['refuse', 'address'],
      describe('Keys of anonymous callers: 400 (refuse), or keys per address (address).', 'anonymous'),
    ),
    max_body: sizeUpTo(
      describe('Larger request bodies pass without protection, or get 413 if a key is required.', 'max_body'),
    ).optional(),
    max_answer: sizeUpTo(
      describe(
        'Larger responses and streams are not kept. A repeated request is executed again, or gets 409 if a key is required.',
        'max_answer',
      ),
    ).optional(),
  };
}

const written = (key: keyof typeof WRITTEN): string => {
  const value = WRITTEN[key];
  return typeof value === 'object' ? value.join(', ') : String(value);
};

const meta = {
  description: 'A request with an Idempotency-Key is executed once; repetitions get the same response.',
};

export const idempotencySection = z
  .strictObject(fieldsWith((what, key) => `${what} Default ${written(key)}.`))
  .meta(meta);

/** For a version or operation. Missing keys are inherited. `off` stops the inheritance. */
export const ownIdempotencySection = z
  .union([z.literal('off'), z.strictObject(fieldsWith((what) => what))])
  .meta({
    description: 'Idempotency keys of this version or operation alone, or off.',
  });

export type WrittenIdempotency = z.output<typeof idempotencySection>;

export const defaultIdempotency: WrittenIdempotency = idempotencySection.parse(WRITTEN);
