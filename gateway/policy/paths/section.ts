// The `paths` section of a policy or gateway file: how the service reads the paths that it is sent.
import { z } from 'zod';
import { oneOf } from '../notation.ts';
import type { PathRules } from './rules.ts';

/** Nothing is known of the service: the gateway judges every reading. */
const UNKNOWN: PathRules = {
  case: 'any',
  parameters: 'any',
  suffix: 'any',
  trailingSlash: 'any',
  encodedSlash: 'both',
  reserved: 'any',
  proxy: 'any',
};
/** What most routers have in common. */
const COMMON: PathRules = {
  case: 'sensitive',
  parameters: 'keep',
  suffix: 'keep',
  trailingSlash: 'same',
  encodedSlash: 'both',
  reserved: 'decode',
  proxy: 'none',
};

export const PATH_PRESETS = {
  express: { ...COMMON, case: 'insensitive', encodedSlash: 'keep', reserved: 'any' },
  fastify: { ...COMMON, parameters: 'any', trailingSlash: 'distinct', encodedSlash: 'keep', reserved: 'any' },
  // The mux of Go decodes; chi, and gin with UseRawPath, compare paths as written; Fiber ignores case.
  go: { ...COMMON, case: 'any', trailingSlash: 'any', reserved: 'any' },
  spring: { ...COMMON, parameters: 'ignore', suffix: 'any', encodedSlash: 'reject' },
  fastapi: COMMON,
  // The routers of Django REST framework take a format behind the last segment.
  wsgi: { ...COMMON, trailingSlash: 'any', suffix: 'any' },
  // Whether it decodes for the service behind it depends on its proxy_pass.
  nginx: { ...COMMON, trailingSlash: 'any', reserved: 'any', proxy: 'any' },
  strict: { ...UNKNOWN, encodedSlash: 'reject' },
} as const satisfies Readonly<Record<string, PathRules>>;

type Preset = keyof typeof PATH_PRESETS;
const preset = z.enum(Object.keys(PATH_PRESETS) as [Preset, ...Preset[]]);

const keys = z.strictObject({
  preset: preset.meta({ description: 'A kind of service: the default for the other keys.' }).optional(),
  case: oneOf(['sensitive', 'insensitive'], 'Whether /Export is another path than /export.'),
  parameters: oneOf(
    ['keep', 'ignore'],
    'Whether /export;x=1 is another path than /export (keep) or the same (ignore).',
  ),
  suffix: oneOf(
    ['keep', 'ignore'],
    'Whether /export.json is another path than /export (keep) or the same (ignore).',
  ),
  trailing_slash: oneOf(['same', 'distinct'], 'Whether /export/ is the same path as /export.'),
  encoded_slash: oneOf(
    ['keep', 'reject', 'both'],
    'Whether %2F is part of its segment (keep), answered with 400 (reject), or judged both as part of the segment and as its end (both).',
  ),
});

export const pathsSection = z.union([preset, keys]).meta({
  description:
    'How the service reads paths: a kind of service, or single rules. The gateway judges every reading that is possible.',
});

export type PathsFile = z.output<typeof pathsSection>;

/** The rules of a `paths` section; without a section every reading is possible. */
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
    proxy: base.proxy,
  };
}
