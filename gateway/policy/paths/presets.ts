// Presets of path rules: how common servers and frameworks read paths.
import type { PathRules } from './rules.ts';

/** The service is unknown, so the gateway judges every reading. */
export const UNKNOWN_SERVICE: PathRules = {
  case: 'any',
  parameters: 'any',
  suffix: 'any',
  trailingSlash: 'any',
  encodedSlash: 'both',
  reserved: 'any',
  proxy: 'any',
};
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
  // Go's mux decodes. chi, and gin with UseRawPath, compare paths as written. Fiber ignores case.
  go: { ...COMMON, case: 'any', trailingSlash: 'any', reserved: 'any' },
  spring: { ...COMMON, parameters: 'ignore', suffix: 'any', encodedSlash: 'reject' },
  fastapi: COMMON,
  // Django REST framework accepts a format suffix on the last segment.
  wsgi: { ...COMMON, trailingSlash: 'any', suffix: 'any' },
  // Its proxy_pass setting decides whether nginx decodes for the service behind it.
  nginx: { ...COMMON, trailingSlash: 'any', reserved: 'any', proxy: 'any' },
  strict: { ...UNKNOWN_SERVICE, encodedSlash: 'reject' },
} as const satisfies Readonly<Record<string, PathRules>>;
