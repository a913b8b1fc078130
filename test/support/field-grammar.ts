// Strict grammars for the fields that the gateway generates: RFC 9110, RFC 8288, RFC 9651 and RFC 3986.
import { parseItem, parseList } from 'structured-headers';

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\t \\x21-\\x7e])*"';
const UNRESERVED = "[A-Za-z0-9\\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2}";
const URI = new RegExp(
  `^https?://(?:[a-z0-9.-]+|\\[[0-9a-f:.]+\\])(?::[0-9]+)?(?:/(?:${UNRESERVED})*)*(?:\\?(?:${UNRESERVED}|[/?])*)?(?:#(?:${UNRESERVED}|[/?])*)?$`,
);
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(${TOKEN})(?:=(?:(${TOKEN})|(${QUOTED})))?`, 'y');
const IMF_FIXDATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

export interface ParsedLink {
  readonly target: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** @throws Error if the text is not a list of links (RFC 8288 §3), each with exactly one relation type */
export function parseLinks(text: string): readonly ParsedLink[] {
  const links: ParsedLink[] = [];
  for (let at = 0; at < text.length; ) {
    const [whole = '', target = ''] = /^<([^<>"\s\\]*)>/.exec(text.slice(at)) ?? [];
    if (whole === '') throw new Error(`no link at ${at} of ${text}`);
    at += whole.length;
    const parameters = new Map<string, string>();
    for (;;) {
      PARAMETER.lastIndex = at;
      const [found, name = '', token, quoted] = PARAMETER.exec(text) ?? [];
      if (found === undefined) break;
      if (parameters.has(name.toLowerCase())) throw new Error(`two ${name} in ${text}`);
      parameters.set(name.toLowerCase(), token ?? quoted?.slice(1, -1).replace(/\\(.)/g, '$1') ?? '');
      at += found.length;
    }
    if (parameters.get('rel') === undefined) throw new Error(`a link without rel in ${text}`);
    links.push({ target, parameters });
    const rest = text.slice(at);
    if (rest === '') break;
    const comma = /^[ \t]*,[ \t]*(?=<)/.exec(rest)?.[0];
    if (comma === undefined) throw new Error(`neither end nor comma at ${at} of ${text}`);
    at += comma.length;
  }
  return links;
}

/** RFC 9110 §5.6.7: the only format that senders may use, with the right weekday. */
export function isHttpDate(text: string): boolean {
  return IMF_FIXDATE.test(text) && new Date(text).toUTCString() === text;
}

function isUri(text: string): boolean {
  return URI.test(text) && URL.canParse(text);
}

const matches = (source: string) => {
  const pattern = new RegExp(`^(?:${source})$`);
  return (text: string) => pattern.test(text);
};
const listOf = (member: string) => matches(`${member}(?:[ \\t]*,[ \\t]*${member})*`);
const AUTH_PARAMETER = `${TOKEN}=(?:${TOKEN}|${QUOTED})`;

/** A structured list whose members are strings or tokens, as in RateLimit and Proxy-Status. */
function isStructuredList(text: string): boolean {
  return parseList(text).length > 0;
}

function isStructuredDate(text: string): boolean {
  const [value, parameters] = parseItem(text);
  return value instanceof Date && parameters.size === 0;
}

const FIELDS: Readonly<Record<string, (text: string) => boolean>> = {
  'access-control-allow-origin': (text) => text === '*' || isUri(text),
  'access-control-expose-headers': listOf(TOKEN),
  accept: listOf(`${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${AUTH_PARAMETER})*`),
  allow: listOf(TOKEN),
  'cache-control': listOf(`${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?`),
  'content-length': matches('\\d+'),
  'content-type': matches(`${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${AUTH_PARAMETER})*`),
  // DEP-1: the literal of the specification, the HTTP date and the structured date are all allowed.
  deprecation: (text) => text === 'true' || isHttpDate(text) || isStructuredDate(text),
  etag: matches('(?:W/)?"[\\x21\\x23-\\x7e]*"'),
  link: (text) => parseLinks(text).every(({ target }) => isUri(target)),
  location: (text) => isUri(text.replace(/\?.*$/, '')),
  'proxy-status': isStructuredList,
  ratelimit: isStructuredList,
  'ratelimit-policy': isStructuredList,
  'retry-after': matches('\\d+'),
  'strict-transport-security': matches('max-age=\\d+'),
  sunset: isHttpDate,
  vary: (text) => text === '*' || listOf(TOKEN)(text),
  // RFC 7234 §5.5; WARN-3: without a warn-date.
  warning: matches(`299 - ${QUOTED}`),
  'www-authenticate': matches(`Bearer ${AUTH_PARAMETER}(?:, ${AUTH_PARAMETER})*`),
  'x-api-deprecation-info': isUri,
  'x-api-lifecycle-stage': matches('active|deprecated|sunset|retired'),
  'x-api-version-requested': matches('[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?'),
  'x-api-version-served': matches(TOKEN),
  'x-content-type-options': matches('nosniff'),
  'x-ratelimit-limit': matches('\\d+'),
  'x-ratelimit-remaining': matches('\\d+'),
};

/** The error in a generated field. Undefined if it is valid. A field without a grammar here is an error. */
export function fieldProblem(name: string, text: string): string | undefined {
  const isGood = FIELDS[name];
  if (isGood === undefined) return `no grammar for ${name}: ${text}`;
  try {
    return isGood(text) ? undefined : `${name}: ${text}`;
  } catch (error) {
    return `${name}: ${text} (${error instanceof Error ? error.message : String(error)})`;
  }
}
