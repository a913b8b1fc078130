// The grammar of an upstream's connections: limits, retries, HTTP/2 and TLS.
import { z } from 'zod';
import { parseHostName } from '../../plan/grammar/addresses.ts';
import { duration, notation } from '../../policy/notation.ts';

const count = (least: number, most: number, description: string) =>
  z.int().min(least).max(most).meta({ description });

const connections = z.strictObject({
  max: count(1, 100_000, 'Most concurrent requests and WebSockets of one target; default 256.').optional(),
  queue: count(0, 1_000_000, 'Requests that may wait for one target; default 1024.').optional(),
  wait: duration('Longest time a request waits; default 1s.').optional(),
});

/** `20%` to 0.2, up to 100%. Undefined for any other text. */
function parseShare(text: string): number | undefined {
  const percent = /^(\d{1,3})%$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent) / 100;
}

const retries = z.strictObject({
  attempts: count(1, 5, 'Most retries of a request; default 1.').optional(),
  budget: notation(parseShare, 'not a share such as 20%', {
    description:
      'Share of recent requests that may be retried; default 20%. One retry per second is always allowed.',
    examples: ['20%'],
  }).optional(),
});

const file = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .meta({ description: `${description} A path relative to this file.`, examples: [example] });

const tls = z.strictObject({
  ca: file('PEM file of the trusted authorities. It replaces the built-in ones.', './ca.pem').optional(),
  cert: file('PEM file of the certificate shown to the upstream.', './client.pem').optional(),
  key: file('PEM file of its key.', './client.key').optional(),
  name: notation(
    (text) => (/^\[|(^|\.)\d+$/.test(text) ? undefined : parseHostName(text)),
    'not a host name in lower case, without a port; an address is not allowed',
    {
      description: "Name the upstream's certificate must have; default: the host of the target.",
      examples: ['orders.internal'],
    },
  ).optional(),
});

/** A host with an optional port. */
function parseAuthority(text: string): string | undefined {
  const [, name = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (parseHostName(name) === undefined || (port !== undefined && Number(port) > 65_535)) return undefined;
  return text;
}

export const connectionFields = {
  connections: connections
    .meta({ description: 'Limits of one target; requests beyond them get 503.' })
    .optional(),
  retries: z
    .union([z.literal('off'), retries])
    .meta({
      description: 'Retries a request without body and side effects if no response byte arrived, or off.',
    })
    .optional(),
  http2: z
    .boolean()
    .meta({
      description:
        'Whether to use HTTP/2: negotiated with https targets, assumed for http targets; default false.',
    })
    .optional(),
  tls: tls.meta({ description: 'For https targets, whose certificates are always verified.' }).optional(),
  host: notation(parseAuthority, 'not a host in lower case, with or without a port', {
    description: 'The Host field the upstream gets; default: the authority of the target.',
    examples: ['orders.internal'],
  }).optional(),
};
