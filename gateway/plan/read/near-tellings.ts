// Where people and pages are told something, and when, as it is nearly written: mail servers, addresses of services and pages,
// days, zones, requests. Rows of near-values.ts, which holds each against what its notation reads.
import { parseZone } from '../../policy/lifecycle/brownout-cron.ts';
import { matching, type NearRow, nearDuration } from './near-notations.ts';

const SHORT_OF_A_YEAR = /^(\d{1,2})\s*(months?|years?|y)$/i;
const DAYS_OF: Readonly<Record<string, number>> = { m: 30, y: 365 };

export const TELLING_ROWS: readonly NearRow[] = [
  { message: /^not the URL of a mail server/, nearly: nearMailServer, reads: URL.canParse },
  { message: /^not a number of whole days/, nearly: nearDays, reads: matching(/^\d+d$/) },
  {
    message: /^not calls per whole days/,
    nearly: (text) => /^\d{1,9}$/.exec(text)?.[0].concat('/30d'),
    reads: matching(/^\d+\/30d$/),
  },
  { message: /^not a time zone/, nearly: nearZone, reads: parseZone },
  { message: /^not a URL of http or https/, nearly: nearService, reads: URL.canParse },
  { message: /^not an origin as browsers/, nearly: nearPageOrigin, reads: URL.canParse },
  { message: /^not a method and a path/, nearly: nearRequest, reads: matching(/^[A-Z]+ \/\S*$/) },
];

/** What to write where no value is near, by what the grammar says. */
export const TELLING_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^not a mail address/, 'one address alone, such as api@example.com; several readers share that of a list'],
  [
    /^not a cron expression/,
    'minute 0-59, hour 0-23, day of month 1-31, month 1-12, day of week 0-6 or sun to sat',
  ],
  [/^not a status that the gateway/, 'what is forwarded has none here: write version or stage'],
  [/^not a share such as 50% or a rate/, 'more than 0%, and 100% at most'],
];

/** `localhost:1025`, `http://mail.example.com`; nothing where a password may be in it, which is not repeated. */
function nearMailServer(text: string): string | undefined {
  const [, host = '', port = ''] = /^(?:https?:\/\/)?([\w.-]+)(:\d{1,5})?\/?$/i.exec(text) ?? [];
  if (host === '') return undefined;
  return port === ':465' ? `smtps://${host}${port}` : `smtp://${host}${port}`;
}

/** A number alone, and months and years, which no duration has. */
function nearDays(text: string): string | undefined {
  const written = text.trim();
  if (/^\d{1,4}$/.test(written)) return `${written}d`;
  const [, count, unit = ''] = SHORT_OF_A_YEAR.exec(written) ?? [];
  if (count === undefined) return nearDuration(written);
  return `${Number(count) * (DAYS_OF[unit.charAt(0).toLowerCase()] ?? 0)}d`;
}

/** `Berlin` where one zone is called so. */
function nearZone(text: string): string | undefined {
  const city = text.trim().replaceAll(' ', '_').toLowerCase();
  const [one, ...others] = Intl.supportedValuesOf('timeZone').filter(
    (zone) => zone.toLowerCase() === city || zone.toLowerCase().endsWith(`/${city}`),
  );
  return others.length === 0 ? one : undefined;
}

function nearService(text: string): string | undefined {
  if (/[@#\s]/.test(text) || /^[a-z]+:\/\//i.test(text)) return undefined;
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
