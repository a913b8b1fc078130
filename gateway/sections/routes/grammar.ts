// The grammar of hosts, base, path rules and location mapping.
import { z } from 'zod';
import { parseHostName } from '../../plan/grammar/addresses.ts';
import { notation, oneOf } from '../../policy/notation.ts';
import { PATH_PRESETS } from '../../policy/paths/presets.ts';
import { plainPath } from '../upstreams/grammar.ts';

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
    'Whether %2F is part of its segment (keep), gets 400 (reject), or is tried as part and separator (both).',
  ),
});

/** The keys of single rules. */
export const PATH_KEYS: readonly string[] = Object.keys(keys.omit({ preset: true }).shape);

export const pathsSection = z.union([preset, keys]).meta({
  description:
    'How the service reads paths: a kind of service, or single rules. Rules apply to every possible reading.',
});

export type PathsFile = z.output<typeof pathsSection>;

export const nameSection = notation(
  (text) => (/^[a-z][a-z0-9-]{0,62}$/.test(text) ? text : undefined),
  'not a name: a lower-case letter, then letters, digits and hyphens',
  { description: 'Name of the API, in metrics and responses.', examples: ['orders'] },
);

const host = notation(parseHostName, 'not a host name in lower case, without a port', {
  description: 'Host the API is served on.',
  examples: ['api.example.com'],
});

export const hostSection = z
  .union([host, z.array(host).min(1)])
  .meta({ description: 'Host or hosts; default: that of `public`.' });

export const baseSection = plainPath('Path of the API without a version in the path.', '/api/orders');

export const locationsSection = z.enum(['map', 'keep', 'prefix']).meta({
  description:
    'URLs of the service in its responses: map rewrites them to the gateway, keep leaves them, prefix sends X-Forwarded-Prefix to the service; default map.',
});
