// The `paths` section of a policy or gateway file: how the service reads the paths that it is sent.
// Kinds of services have presets, seen on the versions that the policy page names.
import { z } from 'zod';
import type { PathRules } from './rules.ts';

/** What is not said of a service: every reading is judged. */
const UNKNOWN: PathRules = {
  case: 'any',
  parameters: 'any',
  suffix: 'any',
  trailingSlash: 'any',
  encodedSlash: 'both',
  reserved: 'any',
};
/** What most routers have in common. */
const COMMON: PathRules = {
  case: 'sensitive',
  parameters: 'keep',
  suffix: 'keep',
  trailingSlash: 'same',
  encodedSlash: 'both',
  reserved: 'decode',
};

export const PATH_PRESETS = {
  express: { ...COMMON, case: 'insensitive', encodedSlash: 'keep', reserved: 'any' },
  fastify: { ...COMMON, parameters: 'any', trailingSlash: 'distinct', encodedSlash: 'keep', reserved: 'any' },
  go: { ...COMMON, trailingSlash: 'any' },
  spring: { ...COMMON, parameters: 'ignore', suffix: 'any', encodedSlash: 'reject' },
  fastapi: COMMON,
  wsgi: { ...COMMON, trailingSlash: 'any' },
  // Whether it decodes for the service behind it depends on its proxy_pass.
  nginx: { ...COMMON, trailingSlash: 'any', reserved: 'any' },
  strict: { ...UNKNOWN, encodedSlash: 'reject' },
} as const satisfies Readonly<Record<string, PathRules>>;

type Preset = keyof typeof PATH_PRESETS;
const preset = z.enum(Object.keys(PATH_PRESETS) as [Preset, ...Preset[]]);

const keys = z.strictObject({
  preset: preset.meta({ description: 'A kind of service, for the keys that are not written.' }).optional(),
  case: z
    .enum(['sensitive', 'insensitive'])
    .meta({ description: 'Whether /Export is another path than /export.' })
    .optional(),
  parameters: z
    .enum(['keep', 'ignore'])
    .meta({ description: 'Whether /export;x=1 is another path than /export (keep) or the same (ignore).' })
    .optional(),
  suffix: z
    .enum(['keep', 'ignore'])
    .meta({ description: 'Whether /export.json is another path than /export (keep) or the same (ignore).' })
    .optional(),
  trailing_slash: z
    .enum(['same', 'distinct'])
    .meta({ description: 'Whether /export/ is the same path as /export.' })
    .optional(),
  encoded_slash: z
    .enum(['keep', 'reject', 'both'])
    .meta({
      description:
        'Whether %2F is part of its segment (keep), refused with 400 (reject), or judged as part and as end of it (both).',
    })
    .optional(),
});

export const pathsSection = z.union([preset, keys]).meta({
  description:
    'How the service reads paths: a kind of service, or each rule. Each reading that is left open is judged.',
});

export type PathsFile = z.output<typeof pathsSection>;

/** The rules that a section means; without one, those of a service of which nothing is known. */
export function pathRulesOf(paths: PathsFile | undefined): PathRules {
  if (paths === undefined) return UNKNOWN;
  if (typeof paths === 'string') return PATH_PRESETS[paths];
  const base = paths.preset === undefined ? UNKNOWN : PATH_PRESETS[paths.preset];
  return {
    case: paths.case ?? base.case,
    parameters: paths.parameters ?? base.parameters,
    suffix: paths.suffix ?? base.suffix,
    trailingSlash: paths.trailing_slash ?? base.trailingSlash,
    encodedSlash: paths.encoded_slash ?? base.encodedSlash,
    reserved: base.reserved,
  };
}
