// The grammar of `config/gateway.yaml`.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { notation, parseDuration, parseRate, type Rate } from '../../policy/notation.ts';
import { pathsSection } from '../../sections/routes/grammar.ts';
import { deprecationHeaderSection } from '../../sections/signals/grammar.ts';
import { origin, parseOrigin } from '../../sections/upstreams/grammar.ts';
import { redisAddress } from '../../stores/redis-address.ts';
import { alternativesIn, MAX_ALTERNATIVES } from '../read/file-pattern.ts';
import type { StoreSettings } from '../settings.ts';
import { parseHostName, parseRange } from './addresses.ts';
import { boundsSection, drainSection, overloadSection } from './bounds-section.ts';
import { identitySection } from './identity-section.ts';
import { ledgerSection } from './ledger-section.ts';
import { listenersSection, text } from './listeners-section.ts';
import { accessLogSection, logLevelSection, tracingSection } from './logs-section.ts';
import { notifySection } from './notify-section.ts';

/** `data-folder`: the embedded store in the data folder, written as `embedded`. */
export type WrittenStore = StoreSettings | { readonly kind: 'data-folder' };

/** `embedded`, `embedded:<folder>`, or the URL of a Redis. */
function parseStore(written: string): WrittenStore | undefined {
  if (written === 'embedded') return { kind: 'data-folder' };
  const folder = /^embedded:(.+)$/.exec(written)?.[1];
  if (folder !== undefined) return { kind: 'embedded', folder };
  return redisAddress(written) && { kind: 'redis', url: written };
}

const guard = notation(
  (text): Rate | 'off' | undefined => (text === 'off' ? 'off' : parseRate(text)),
  'not a rate such as 600/1m, or off',
  {
    description: `${GLOSSARY.guard} \`off\` disables it.`,
    examples: ['600/1m', 'off'],
  },
);

const store = notation(
  parseStore,
  'not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary',
  {
    description:
      'Store of pins, pauses and schedules. Redis also counts limits. Default embedded, in the data folder.',
    examples: [
      'embedded',
      'embedded:./data',
      'redis://127.0.0.1:6379',
      'redis+cluster://10.0.0.1:6379,10.0.0.2:6379',
      'redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/mymaster',
    ],
  },
);

/** With a shorter timeout, a busy event loop makes a healthy Redis look unavailable. */
const SHORTEST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 5_000;

const storeTimeout = notation(
  (written) => {
    const ms = parseDuration(written) ?? 0;
    return ms >= SHORTEST_WAIT_MS && ms <= LONGEST_WAIT_MS ? ms : undefined;
  },
  'not a duration from 10ms to 5s',
  {
    description: 'Longest time that a request waits for Redis to count its limits. Default 50ms.',
    examples: ['50ms'],
  },
);

const replicas = notation(
  (digits) => (/^[1-9]\d{0,3}$/.test(digits) ? Number(digits) : undefined),
  'not a whole number from 1',
  {
    description: 'How many gateways share the limits; the local fallback divides by it. Default 1.',
  },
);

/** An origin whose host is valid in requests. */
function parsePublic(text: string): string | undefined {
  const written = parseOrigin(text);
  if (written === undefined) return undefined;
  const { hostname, port } = new URL(written);
  return parseHostName(hostname) === undefined || port === '0' ? undefined : written;
}

const MAX_WORKERS = 64;

const workers = notation(
  (written) => {
    if (written === 'auto') return written;
    return /^[1-9]\d?$/.test(written) && Number(written) <= MAX_WORKERS ? Number(written) : undefined;
  },
  `not a whole number from 1 to ${MAX_WORKERS}, or auto`,
  { description: 'How many processes answer requests; auto: one for each processor.', examples: ['auto'] },
);

const fields = {
  public: origin(
    'Base URL of Location, Link and metadata. The Host of a request is never used for them.',
    'https://api.example.com',
    parsePublic,
  ),
  listeners: listenersSection,
  trusted_proxies: z
    .array(
      notation(parseRange, 'not an address or a range such as 10.0.0.0/8', {
        description: 'An address or range.',
      }),
    )
    .meta({ description: 'Proxies from which the gateway accepts X-Forwarded-For, -Proto and -Host.' })
    .optional(),
  forwarded: z
    .enum(['off', 'rfc7239'])
    .meta({ description: 'rfc7239 sends upstreams Forwarded as well as X-Forwarded-*. Default off.' })
    .optional(),
  store: store.optional(),
  store_timeout: storeTimeout.optional(),
  replicas: z
    .union([replicas, z.int().min(1).max(9999)])
    .meta({ description: 'How many gateways share the limits; default 1.' })
    .optional(),
  workers: z
    .union([workers, z.int().min(1).max(MAX_WORKERS)])
    .meta({ description: 'How many processes answer requests, or auto: one for each processor. Default 1.' })
    .optional(),
  identity: z
    .record(z.string(), identitySection)
    .meta({ description: `${GLOSSARY.identity} Policies use its name.` })
    .optional(),
  credentials_in_url: z
    .array(text('A parameter.', ['access_token']))
    .meta({ description: 'A request with one of these query parameters is refused.' })
    .optional(),
  guard: guard.optional(),
  log_level: logLevelSection.optional(),
  access_log: accessLogSection
    .meta({ description: 'Requests that get an access line in the log, and its fields.' })
    .optional(),
  tracing: tracingSection
    .meta({ description: 'Traces for requests without a traceparent; off starts none.' })
    .optional(),
  bounds: boundsSection
    .meta({ description: 'Limits of what clients may send and hold open: sizes, counts and times.' })
    .optional(),
  overload: overloadSection
    .meta({
      description: 'Load above which requests get 503; off refuses none.',
    })
    .optional(),
  drain: drainSection.meta({ description: `${GLOSSARY.drain} These keys set its times.` }).optional(),
  ledger: ledgerSection
    .meta({ description: `${GLOSSARY.ledger} The store keeps it; \`off\` records none.` })
    .optional(),
  notify: notifySection
    .meta({ description: 'Notices about the lifecycle of versions: mails to consumers, events to machines.' })
    .optional(),
  deprecation_header: deprecationHeaderSection.optional(),
  start: z
    .enum(['accepted', 'partial', 'strict'])
    .meta({
      description:
        'Reaction to a refused policy file at the start. accepted: serve the last accepted form of its API, or exit if there is none. partial: leave the API out and answer 503 at its routes. strict: exit. Default accepted.',
    })
    .optional(),
  paths: pathsSection.optional(),
  data: text(
    'Folder for files that the process creates, relative to the working directory; default ./data.',
    ['./data'],
  ).optional(),
  policies: text('The policy files, as a glob relative to this file.', ['../policies/*.yaml']).refine(
    (pattern) => alternativesIn(pattern) <= MAX_ALTERNATIVES,
    `the braces expand to more than ${MAX_ALTERNATIVES} names: use * instead`,
  ),
};

export const gatewayGrammar = z.strictObject(fields);

/** Every key optional: the type of a file without its malformed parts. */
export const gatewayPartsGrammar = gatewayGrammar.partial();

export type GatewayFile = z.output<typeof gatewayGrammar>;
export type GatewayParts = z.output<typeof gatewayPartsGrammar>;
