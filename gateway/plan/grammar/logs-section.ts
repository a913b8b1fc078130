// The `log_level`, `access_log` and `tracing` sections of gateway.yaml: what stands in the log, and where spans go.
import { z } from 'zod';
import { notation } from '../../policy/notation.ts';
import { decodeUnreserved } from '../../policy/octets.ts';

/** From the most lines to the fewest. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const WRITTEN_LOG_LEVEL: LogLevel = 'info';

export const logLevelSection = z.enum(LOG_LEVELS).meta({
  description: `Messages below this level are left out of the log; the admin API changes it at run time. Access lines and the audit stand there at every level. Default ${WRITTEN_LOG_LEVEL}.`,
});

/** Members of an access line besides `level`, `log` and `time`, in their order. */
export const ACCESS_FIELDS = {
  request_id: 'The id of the request, which its answer has as `X-Request-Id`.',
  trace_id: 'The trace of the request.',
  method: 'The method.',
  host: 'The requested host, without port; absent if the gateway refused the request before parsing its host.',
  path: 'The path as it was judged, without query.',
  status: 'The status of the answer; 499 if the client left before there was one.',
  api: 'The API.',
  version: 'The version.',
  operation: 'The operation, if the policy names it.',
  stage: 'The stage of the version or operation.',
  carrier: 'Where the request named its version.',
  consumer: 'The consumer.',
  refusal: 'Why the gateway refused the request.',
  limited_by: 'The limits that refused it.',
  shadow_limited_by: 'The limits in shadow that would have refused it.',
  token_flaw: 'What is wrong with a refused token.',
  key_flaw: 'What is wrong with a refused API key.',
  would_refuse: 'What the request would be refused for if the API were not only observed.',
  body_notice: 'What became of the notice in the body.',
  idempotency: 'What became of the idempotency key.',
  fault: 'What failed; a line with it is of level `error`.',
  upstream: 'The upstream that failed.',
  target: 'The target of the upstream that was called last.',
  error: 'The error behind the fault: code, message, codes of its causes, and its place in the program.',
  duration_ms: 'Milliseconds from the first line of the request to the end of the answer.',
  upstream_ms: 'Milliseconds that the upstream took to its headers.',
  bytes: 'Bytes of the body of the answer.',
  client: 'The address of the client.',
  scheme: '`https` or `http`.',
  protocol: 'The protocol of the request.',
  aborted: 'Whether the client left or the answer was cut short.',
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
    .meta({ description: 'What stands in an access line besides its time and level. Default all.' })
    .optional(),
  sample: notation(parsePercent, 'not a share such as 10%', {
    description:
      'Which part of the successes has an access line; failures, refusals and redirects of the gateway always have one. Default 100%.',
    examples: ['10%'],
  }).optional(),
  exclude: z
    .array(
      notation(parsePathPattern, 'not a normalised path such as /healthz, or the start of one such as /static/*', {
        description: 'A path, or with * the start of one.',
        examples: ['/healthz', '/static/*'],
      }),
    )
    .meta({ description: 'Paths whose successes have no access line.' })
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
      description: 'Share of the traces started here that is marked as sampled; default 100%.',
      examples: ['10%'],
    }).optional(),
    otlp: notation(
      parseCollector,
      'not a URL of http or https without user, password, query and fragment, such as http://127.0.0.1:4318',
      {
        description:
          'Where spans are exported to, over OTLP/HTTP; /v1/traces where it has no path. Needs OpenTelemetry packages beside Sundial.',
        examples: ['http://127.0.0.1:4318'],
      },
    ).optional(),
  }),
]);
