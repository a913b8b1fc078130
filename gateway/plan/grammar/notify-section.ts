// The grammar of `notify` in gateway.yaml: mails and events about the lifecycle of versions.
import { z } from 'zod';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import { notation, parseDuration, parseMail } from '../../policy/notation.ts';
import type { SmtpServer } from '../settings.ts';

export const BEFORE_SUNSET_DEFAULT = ['90d', '30d', '7d', '1d'] as const;

const DAY_MS = 86_400_000;
const MAX_STEPS = 20;
const SMTP = /^smtps?:\/\/[^\s/?#]+\/?$/;

function parseDays(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined || ms % DAY_MS !== 0 ? undefined : ms / DAY_MS;
}

/** '' becomes `none`, so that an unset variable switches mail off. Undefined if the text is no URL of a mail server. */
export function parseSmtp(text: string): SmtpServer | 'none' | undefined {
  if (text === '') return 'none';
  if (!SMTP.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password } = new URL(text);
  const tls = protocol === 'smtps:';
  const [user, pass] = [decoded(username), decoded(password)];
  if (hostname === '' || port === '0' || user === undefined || pass === undefined) return undefined;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (tls ? 465 : 587) : Number(port),
    tls,
    credentials: user === '' ? undefined : { user, pass },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function parseIntake(text: string): string | undefined {
  if (/[\s#]/.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' ? text : undefined;
}

/** Without its trailing slash, since paths are appended. */
function parseDeliveries(text: string): string | undefined {
  if (/[?#]/.test(text) || parsePageUrl(text) === undefined) return undefined;
  return text.replace(/\/$/, '');
}

const email = z.strictObject({
  smtp: notation(
    parseSmtp,
    'not the URL of a mail server: smtp://host:587 or smtps://host:465. user:password@ may precede the host, with special characters percent-encoded',
    {
      description: 'The mail server; empty: no mail is sent.',
      examples: ['smtp://mail.example.com:587', 'smtps://mail.example.com'],
    },
  ),
  from: notation(parseMail, 'not a mail address', {
    description: 'Sender address.',
    examples: ['api@example.com'],
  }),
});

const webhooks = z.strictObject({
  intake: notation(parseIntake, 'not an http or https URL (no user, password or fragment)', {
    description: 'URL to which the gateway posts events of versions. Without it, no events are sent.',
    examples: ['http://127.0.0.1:4006/events'],
  }).optional(),
  deliveries: notation(
    parseDeliveries,
    'not an https URL (no user, password, query or fragment; http only on this machine)',
    {
      description:
        'URL of the deliveries in the webhooks service, for the dashboard, which reads /overview below it.',
      examples: ['http://127.0.0.1:4006/admin'],
    },
  ).optional(),
});

export const beforeSunset = z
  .array(
    notation(parseDays, 'not a number of whole days such as 30d', {
      description: 'Days before a sunset.',
      examples: ['30d'],
    }),
  )
  .max(MAX_STEPS);

export const notifySection = z.strictObject({
  email: email.meta({ description: 'Mails to consumers that still call deprecated versions.' }).optional(),
  webhooks: webhooks.meta({ description: 'Events for machines, and their deliveries.' }).optional(),
  before_sunset: beforeSunset
    .meta({
      description: `Times before a sunset at which notices are sent. Default ${BEFORE_SUNSET_DEFAULT.join(', ')}.`,
    })
    .optional(),
});
