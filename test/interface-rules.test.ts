// The table of interface rules is complete, and each rule names an existing test.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Section, Shown } from './interface/rule.ts';
import { SECTIONS } from './interface/rules.ts';

const JOURNEYS = join(import.meta.dirname, 'journeys');
/** Imports and runs the files of the folder `interface/`. */
const RUNS_SECTIONS = 'interface.test.ts';
/** `npm run test:browser` runs each file in this folder. */
const BROWSER = '../browser/';
/** The title of a test, also after the table of `each`. */
const TITLE = /(?:\bit(?:\.concurrent)?\(|\)\()\s*(['"`])((?:\\.|(?!\1).)+)\1,\s*(?:async\b|\()/gs;
const SCENARIO = /^ {4}name:\s*(['"`])((?:\\.|(?!\1).)+)\1,$/gm;

/** The number of rules of each section, and the names that its rules must contain. */
const NAMED: Readonly<Record<string, readonly [count: number, ...names: string[]]>> = {
  'What the service does': [
    21,
    ...['HTTPS', 'TLS 1.2', 'Strict-Transport-Security', 'application/json', 'Content-Type', 'Accept'],
    ...['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'idempotency key', 'plural nouns'],
    ...['Cache-Control', 'ETag', 'Last-Modified', 'If-None-Match', '304', '200', '201', '204', 'sub-path'],
  ],
  'Resources and their fields': [
    27,
    ...['url', 'events', 'secret', 'id', 'type', 'created', 'data', 'amount', 'currency', 'customer'],
    ...['page', 'limit', 'total', 'totalPages', 'first', 'next', 'last', 'has_more', 'starting_after'],
    ...['error', 'message', 'requestId', 'service', 'retryAfter', 'estimatedRestoration', 'timeout'],
    ...['_deprecation', 'deprecated', 'sunset_date', 'replacement', 'migration_guide', 'reason'],
    ...['stage', 'support.level', 'support.until', 'deprecation.announced', 'deprecation.sunset'],
    ...['changelog', 'migration-guide', 'introduced', 'status', 'breaking-changes', 'deprecation-date'],
    ...['sunset-date', '_links', 'href', 'method'],
  ],
  'States and transitions': [
    13,
    'e-mail',
    'dashboard',
    'planned',
    'active',
    'Deprecated',
    'sunset',
    'Retired',
    '301',
    '410',
    '200',
  ],
  Endpoints: [14, 'fields', '/api/webhooks', 'x-webhook-signature', '/authorize', '/token', '401', 'sorted'],
  Authentication: [
    19,
    ...['bearer', 'JWT', 'API keys', 'response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'code'],
    ...['client_secret', 'PKCE', 'implicit', 'one hour', 'Refresh', 'HMAC', 'replay', '401'],
  ],
  Events: [6, 'payment.completed', 'payment.failed', 'duplicates', 'backoff', 'HTTPS'],
  Errors: [
    17,
    ...['304', '400', '401', '404', '410', '301', '500', '501', '502', '503', '504', '505'],
    ...['Retry-After', 'Location', 'requestId', 'service', 'estimatedRestoration', 'timeout', 'never 200'],
  ],
  Limits: [5, 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'limit', 'one hour', 'timeout', 'deprecated'],
  Versioning: [
    22,
    ...['semantic', 'path', 'Accept', 'API-Version', '?version=', 'parameter', 'subdomain', 'Date-based'],
    ...[
      'Deprecation',
      'Sunset',
      'Link',
      'successor-version',
      'rel=alternate',
      'Warning',
      'X-API-Deprecation-Info',
      '_deprecation',
    ],
    ...['12 months', '6', 'guide', 'e-mail', 'changelog', 'status page', 'dashboard'],
  ],
};

const texts = new Map<string, string>();
function textOf(file: string): string {
  const path = join(JOURNEYS, file);
  const text = texts.get(file) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '');
  texts.set(file, text);
  return text;
}

function titlesIn(file: string): readonly string[] {
  const pattern = file.startsWith(BROWSER) ? SCENARIO : TITLE;
  return Array.from(textOf(file).matchAll(pattern), ([, , title = '']) => title);
}

/** Returns an error if the named test does not exist or does not run. */
function faultOf([file, title]: Shown): string | undefined {
  if (!titlesIn(file).includes(title)) return `${file} has no test "${title}"`;
  const isRun =
    file.endsWith('.test.ts') || file.startsWith(BROWSER) || textOf(RUNS_SECTIONS).includes(`'./${file}'`);
  return isRun ? undefined : `${file} is run by no test file`;
}

/** As a whole word: `Deprecation` is not found in `X-API-Deprecation-Info`. */
function isNamed(name: string, said: string): boolean {
  return new RegExp(`(?<![\\w.-])${RegExp.escape(name)}(?![\\w-])`).test(said);
}

function faultsOf({ name, rules }: Section): readonly string[] {
  const said = rules.map(({ says }) => says).join('\n');
  const [count = 0, ...names] = NAMED[name] ?? [];
  return [
    ...(rules.length === count ? [] : [`${name} has ${rules.length} rules, not ${count}`]),
    ...names.filter((each) => !isNamed(each, said)).map((each) => `${name} says nothing of ${each}`),
    ...rules.flatMap(({ number, shown }) => (shown.length > 0 ? [] : `${name} ${number} is shown nowhere`)),
    ...rules.flatMap(({ number, shown }) =>
      shown.flatMap((each) => {
        const fault = faultOf(each);
        return fault === undefined ? [] : `${name} ${number}: ${fault}`;
      }),
    ),
  ];
}

describe('the table of interface rules', () => {
  it('has every section, in order', () => {
    expect(SECTIONS.map(({ name }) => name)).toEqual(Object.keys(NAMED));
  });

  it.each(SECTIONS)('$name: has all rules, and each names an existing test', (section) => {
    expect(faultsOf(section)).toEqual([]);
  });

  it.each(SECTIONS)('$name: has its own journey at the samples', ({ name, rules }) => {
    const own = new Set(rules.flatMap(({ shown }) => shown.map(([file]) => file)));
    const sections = [...own].filter((file) => file.startsWith('interface/'));
    expect(sections.some((file) => textOf(file).includes(`describe('${name}'`))).toBe(true);
  });
});

describe('a table of rules is refused', () => {
  const [good] = SECTIONS;
  const rules = good?.rules ?? [];
  const [first] = rules;
  const change = (shown: readonly Shown[]): Section => ({
    name: 'What the service does',
    rules: rules.map((rule) => (rule === first ? { ...rule, shown } : rule)),
  });

  it.each<[string, Section, string]>([
    [
      'that lacks a rule',
      { name: 'What the service does', rules: rules.slice(1) },
      'What the service does has 20 rules, not 21',
    ],
    [
      'that does not mention a name',
      {
        name: 'What the service does',
        rules: rules.map((rule) => ({ ...rule, says: rule.says.replace('Cache-Control', 'it') })),
      },
      'What the service does says nothing of Cache-Control',
    ],
    ['with a rule without a test', change([]), 'What the service does 1 is shown nowhere'],
    [
      'with a file that does not exist',
      change([['nowhere.test.ts', 'POST creates']]),
      'What the service does 1: nowhere.test.ts has no test "POST creates"',
    ],
    [
      'with a title that does not exist',
      change([['resources.test.ts', 'POST creates']]),
      'What the service does 1: resources.test.ts has no test "POST creates"',
    ],
    [
      'with a test that no test file runs',
      change([['pause/documents.ts', 'CAT-3: the catalog lists versions that are served again']]),
      'What the service does 1: pause/documents.ts is run by no test file',
    ],
  ])('%s', (_what, section, fault) => {
    expect(faultsOf(section)).toEqual([fault]);
  });
});
