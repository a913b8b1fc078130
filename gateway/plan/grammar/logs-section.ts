// The `log_level`, `access_log` and `tracing` sections of gateway.yaml.
import { z } from 'zod';
import { notation } from '../../policy/notation.ts';
import { decodeUnreserved } from '../../policy/octets.ts';

/** From the most lines to the fewest. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const WRITTEN_LOG_LEVEL: LogLevel = 'info';

export const logLevelSection = z.enum(LOG_LEVELS).meta({
  description: `Lowest level of messages in the log; the admin API changes it at run time. Access lines and audit lines are logged at every level. Default ${WRITTEN_LOG_LEVEL}.`,
});

/** Members of an access line besides `level`, `log` and `time`, in their order. */
export const ACCESS_FIELDS = {
  request_id: 'The id of the request, as in the `X-Request-Id` of its response.',
  trace_id: 'The trace of the request.',
  method: 'The method.',
  host: 'The requested host, without port; absent if the gateway refused the request before parsing its host.',
  path: 'The path to which the rules were applied, without query.',
  status: 'The status of the response; 499 if the client disconnected before it.',
  api: 'The API.',
  version: 'The version.',
  operation: 'The operation, if the policy names it.',
  stage: 'The stage of the version or operation.',
  carrier: 'The place in the request that named the version.',
  consumer: 'The consumer.',
  refusal: 'Why the gateway refused the request.',
  limited_by: 'The limits that refused it.',
  shadow_limited_by: 'The shadow limits that would have refused it.',
  token_flaw: 'The reason why a token was refused.',
  key_flaw: 'The reason why an API key was refused.',
  would_refuse: 'Why the request would be refused if the API were not in observe mode.',
  body_notice: 'Whether the body got the deprecation notice, or the reason why not.',
  idempotency: 'The outcome for the idempotency key.',
  fault: 'What failed. A line with a fault has the level `error`.',
  upstream: 'The upstream that failed.',
  target: 'The target that was called last.',
  error: 'The error that caused the fault: code, message, codes of its causes, and its place in the code.',
  duration_ms: 'Milliseconds from the first line of the request to the end of the response.',
  upstream_ms: 'Milliseconds until the response headers of the upstream arrived.',
  bytes: 'Bytes of the response body.',
  client: 'The address of the client.',
  scheme: '`https` or `http`.',
  protocol: 'The protocol of the request.',
  aborted: 'Whether the client disconnected or the response was cut short.',
  user_agent: 'The User-Agent of the client.',
} as const;

export type AccessField = keyof typeof ACCESS_FIELDS;

const names = Object.keys(ACCESS_FIELDS) as [AccessField, ...AccessField[]];

/** `0%` to `100%`, with decimals, as a part of one. */
export function parsePercent(text: string): number | undefined {
  const percent = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent) / 100;
}

/** A path in the form that requests are compared in (VER-7), so that a pattern cannot silently match none. */
export function parsePathPattern(text: string): string | undefined {
  const [, path] = /^(\/[!-~]*?)\*?$/.exec(text) ?? [];
  if (path === undefined || /[?#*]|%(?![0-9A-F]{2})|\/\.{1,2}(?=\/|$)/.test(path)) return undefined;
  return decodeUnreserved(path) === path ? text : undefined;
}

export const accessLogSection = z.strictObject({
  fields: z
    .union([z.literal('all'), z.array(z.enum(names)).min(1)])
    .meta({ description: 'Fields of an access line besides its time and level. Default all.' })
    .optional(),
  sample: notation(parsePercent, 'not a share such as 10%', {
    description:
      'Share of the successful requests that get an access line. Failures, refusals and redirects of the gateway always get one. Default 100%.',
    examples: ['10%'],
  }).optional(),
  exclude: z
    .array(
      notation(
        parsePathPattern,
        'not a normalised path such as /healthz, or the start of one such as /static/*',
        {
          description: 'A path, or the start of a path before a *.',
          examples: ['/healthz', '/static/*'],
        },
      ),
    )
    .meta({ description: 'Paths whose successful requests get no access line.' })
    .optional(),
});

/** With the usual path of a collector where none is written. */
function parseCollector(text: string): string | undefined {
  if (/[\s?#]/.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, username, password, pathname, href } = new URL(text);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return undefined;
  return pathname === '/' ? `${href.replace(/\/$/, '')}/v1/traces` : href;
}

export const tracingSection = z.union([
  z.literal('off'),
  z.strictObject({
    sample: notation(parsePercent, 'not a share such as 10%', {
      description: 'Share of the traces started by the gateway that is marked as sampled; default 100%.',
      examples: ['10%'],
    }).optional(),
    otlp: notation(
      parseCollector,
      'not an http or https URL (no user, password, query or fragment), such as http://127.0.0.1:4318',
      {
        description:
          'URL to which spans are exported over OTLP/HTTP. A URL without a path gets /v1/traces. Needs the OpenTelemetry packages installed beside Sundial.',
        examples: ['http://127.0.0.1:4318'],
      },
    ).optional(),
  }),
]);
