// Suggests the right notation for a value that is close to it.
import { parseZone } from '../../policy/lifecycle/brownout-cron.ts';
import { parsePageUrl } from '../../policy/lifecycle/page-url.ts';
import {
  parseDuration,
  parseInstant,
  parseRate,
  parseSize,
  parseWholeSeconds,
} from '../../policy/notation.ts';
import { decodeUnreserved } from '../../policy/octets.ts';
import { parseLowering } from '../../policy/rate-limit/lowering.ts';
import { redisAddress } from '../../stores/redis-address.ts';
import { parseAddress } from '../grammar/addresses.ts';
import { parsePathPattern, parsePercent } from '../grammar/logs-section.ts';
import type { Path } from './document.ts';
import {
  matching,
  type NearRow,
  nearDate,
  nearDuration,
  nearPercent,
  nearRate,
  nearShare,
  nearSize,
} from './near-notations.ts';
import { asYaml } from './near-shapes.ts';
import type { ShapeIssue } from './shape-issues.ts';

const LONGEST = 150;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const VERSIONED_PATH = /^(\/[A-Za-z0-9._~-]+)*\/\{version\}(\/[A-Za-z0-9._~-]+)*$/;
const PLAIN_PATH = /^(\/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;
const MONTHS_OR_YEARS = /^(\d{1,2})\s*(months?|years?|y)$/i;
const DAYS_OF: Readonly<Record<string, number>> = { m: 30, y: 365 };

const ROWS: readonly NearRow[] = [
  { message: /^not a rate/, nearly: nearRate, reads: parseRate },
  {
    message: /^not a share such as 50% or a rate/,
    nearly: (text) => nearShare(text) ?? nearRate(text),
    reads: parseLowering,
  },
  { message: /^not a share such as 10%/, nearly: nearPercent, reads: parsePercent },
  { message: /^not a share/, nearly: nearShare, reads: parseLowering },
  { message: /^not a calendar date/, nearly: nearDate, reads: parseInstant },
  { message: /^not a duration of at least 1s/, nearly: nearDuration, reads: parseWholeSeconds },
  { message: /^not a duration such as .*a day at most/, nearly: nearDuration, reads: upTo(DAY_MS) },
  { message: /^not a duration of up to 1h/, nearly: nearDuration, reads: upTo(HOUR_MS) },
  { message: /^not a duration such as/, nearly: nearDuration, reads: parseDuration },
  { message: /^not a size/, nearly: nearSize, reads: parseSize },
  { message: /^not an absolute https URL/, nearly: nearPage, reads: parsePageUrl },
  { message: /^not an origin: only http or https/, nearly: nearOrigin, reads: URL.canParse },
  { message: /^not a store/, nearly: nearStore, reads: redisAddress },
  { message: /^not an address such as/, nearly: nearAddress, reads: parseAddress },
  { message: /^not a path with one whole segment/, nearly: nearTemplate, reads: matching(VERSIONED_PATH) },
  { message: /^not a plain path/, nearly: nearPath, reads: matching(PLAIN_PATH) },
  { message: /^not a path such as \/healthz/, nearly: nearPath, reads: matching(PLAIN_PATH) },
  { message: /^not a normalised path such as/, nearly: nearRequestPath, reads: parsePathPattern },
  { message: /^not a name:/, nearly: nearName, reads: matching(/^[a-z][a-z0-9-]{0,62}$/) },
  { message: /^not the URL of a mail server/, nearly: nearMailServer, reads: URL.canParse },
  { message: /^not a number of whole days/, nearly: nearDays, reads: matching(/^\d+d$/) },
  {
    message: /^not calls per whole days/,
    nearly: (text) => /^\d{1,9}$/.exec(text)?.[0].concat('/30d'),
    reads: matching(/^\d+\/30d$/),
  },
  { message: /^not a time zone/, nearly: nearZone, reads: parseZone },
  { message: /^not an http or https URL/, nearly: nearService, reads: URL.canParse },
  { message: /^not an origin as browsers/, nearly: nearPageOrigin, reads: URL.canParse },
  { message: /^not a method and a path/, nearly: nearRequest, reads: matching(/^[A-Z]+ \/\S*$/) },
];

/** Advice by the message of the grammar, if no value is close. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^not a token of 32/, 'make one: openssl rand -hex 32'],
  [/^not a scope:/, 'each scope is an entry of its own: [orders:read, orders:write]'],
  [
    /nor the path of a Markdown file$/,
    'write the guide beside this file and name it, such as ./guides/v1-to-v2.md, or the address of its page',
  ],
  [
    /^not an absolute https URL/,
    'publish the page and write its address, such as https://docs.example.com/orders',
  ],
  [/^not a media type in lower case/, 'such as application/vnd.acme.{version}+json'],
  [
    /^not a mail address/,
    'write one address, such as api@example.com; for several readers, use a mailing list',
  ],
  [
    /^not a cron expression/,
    'minute 0-59, hour 0-23, day of month 1-31, month 1-12, day of week 0-6 or sun to sat',
  ],
  [/^not a status that the gateway/, 'a forwarded request has no status here: write version or stage'],
  [/^not a share such as 50% or a rate/, 'more than 0%, and 100% at most'],
];

export function nearValue({ path, message }: ShapeIssue, text: string): string | undefined {
  const row = ROWS.find((each) => each.message.test(message));
  const near = text.length > LONGEST ? undefined : row?.nearly(text, path);
  if (row !== undefined && near !== undefined && near !== text && (row.reads(near) ?? false) !== false)
    return `write ${asYaml(near)}${path.includes('targets') ? pathOfTarget(text) : ''}`;
  return ADVICE.find(([pattern]) => pattern.test(message))?.[1];
}

/** A target is an origin. Its path belongs in a key of its own. */
function pathOfTarget(text: string): string {
  const path = /^\w+:\/\/[^/?#]+((?:\/[A-Za-z0-9._~-]+)+)\/?$/.exec(text)?.[1];
  return path === undefined ? '' : `, and path: ${path} beside targets`;
}

function upTo(most: number): (text: string) => number | undefined {
  return (text) => {
    const ms = parseDuration(text);
    return ms === undefined || ms > most ? undefined : ms;
  };
}

function nearPage(text: string): string | undefined {
  const absolute = /^[a-z]+:\/\//i.test(text)
    ? text
    : /^[\w-]+(\.[\w-]+)+(\/|$)/.test(text)
      ? `https://${text}`
      : '';
  return URL.canParse(absolute) ? new URL(absolute.replace(/^http:/i, 'https:')).href : undefined;
}

function nearOrigin(text: string, [key]: Path): string | undefined {
  // `public` and names without a port are public hosts. Names with a port and addresses are internal services.
  const isCalled = key === 'public' || /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+$/i.test(text);
  const scheme = isCalled ? 'https' : 'http';
  const absolute = /^[a-z]+:\/\//i.test(text) ? text : `${scheme}://${text}`;
  if (!/^https?:/i.test(absolute) || !URL.canParse(absolute)) return undefined;
  return /^[\w.[\]:-]+$/.test(new URL(absolute).host) ? new URL(absolute).origin : undefined;
}

/** `localhost:6379`, `redis:localhost:6379`. */
function nearStore(text: string): string | undefined {
  const address = /^(?:redis:)?([\w.-]+:\d{1,5})$/i.exec(text)?.[1];
  return address && `redis://${address}`;
}

function nearAddress(text: string): string | undefined {
  if (/^\d{1,5}$/.test(text)) return `:${text}`;
  return /^(?:https?:\/\/)?(?:\*(?=:))?([^/]*:\d+)\/?$/.exec(text.toLowerCase())?.[1];
}

function nearTemplate(text: string): string | undefined {
  const path = nearPath(text.replace(/\{\w+\}|:\w+$|:\w+(?=\/)/, '{version}'));
  return path?.replace(/\/(?:v?\{version\}|v\d+)(?=\/|$)/, '/{version}');
}

function nearPath(text: string): string | undefined {
  const path = /^https?:\/\//.test(text) ? text.replace(/^https?:\/\/[^/]*/, '') : text;
  return `/${path.replace(/^\/+|\/?\*+$|\/+$/g, '')}`.replace(/\/{2,}/g, '/');
}

/** Without dot segments, and encoded as in a normalised request. */
function nearRequestPath(text: string): string | undefined {
  const url = `http://gateway/${text.replace(/^(?:https?:\/\/[^/]*)?\/*/, '')}`;
  const path = URL.canParse(url) ? new URL(url).pathname : undefined;
  return path && decodeUnreserved(path);
}

function nearName(text: string): string | undefined {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+|-+$/g, '');
}

/** `localhost:1025`, `http://mail.example.com`. Undefined if the text may have a password, which must not be quoted. */
function nearMailServer(text: string): string | undefined {
  const [, host = '', port = ''] = /^(?:https?:\/\/)?([\w.-]+)(:\d{1,5})?\/?$/i.exec(text) ?? [];
  if (host === '') return undefined;
  return port === ':465' ? `smtps://${host}${port}` : `smtp://${host}${port}`;
}

/** A bare number means days. Months and years are converted to days. */
function nearDays(text: string): string | undefined {
  const written = text.trim();
  if (/^\d{1,4}$/.test(written)) return `${written}d`;
  const [, count, unit = ''] = MONTHS_OR_YEARS.exec(written) ?? [];
  if (count === undefined) return nearDuration(written);
  return `${Number(count) * (DAYS_OF[unit.charAt(0).toLowerCase()] ?? 0)}d`;
}

/** `Berlin`, if exactly one zone has this city. */
function nearZone(text: string): string | undefined {
  const city = text.trim().replaceAll(' ', '_').toLowerCase();
  const [one, ...others] = Intl.supportedValuesOf('timeZone').filter(
    (zone) => zone.toLowerCase() === city || zone.toLowerCase().endsWith(`/${city}`),
  );
  return others.length === 0 ? one : undefined;
}

function nearService(text: string): string | undefined {
  if (/[@#\s]/.test(text) || /^[a-z]+:\/\//i.test(text) || !/^localhost|[.:]/i.test(text)) return undefined;
  return /^(?:localhost|[\d.]+|\[[\d:a-f]+\])(?=[:/]|$)/i.test(text) ? `http://${text}` : `https://${text}`;
}

function nearPageOrigin(text: string): string | undefined {
  const absolute = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  return /[*\s]/.test(text) || !URL.canParse(absolute) ? undefined : new URL(absolute).origin;
}

/** A path alone, a method in lower case, a whole URL. */
function nearRequest(text: string): string | undefined {
  const [, method = 'GET', path] =
    /^(?:([a-z]+)\s+)?(?:https?:\/\/[^/\s]+)?(\/\S*)$/i.exec(text.trim()) ?? [];
  return path && `${method.toUpperCase()} ${path}`;
}
