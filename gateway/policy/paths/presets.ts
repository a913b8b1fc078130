// How kinds of services read paths.
import type { PathRules } from './rules.ts';

/** Nothing is known of the service: the gateway judges every reading. */
export const UNKNOWN_SERVICE: PathRules = {
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
  strict: { ...UNKNOWN_SERVICE, encodedSlash: 'reject' },
} as const satisfies Readonly<Record<string, PathRules>>;
