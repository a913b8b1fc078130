// The cost of every parser of client input is linear in its length.
import { describe, expect, it } from 'vitest';
import { RecordFields, readAuthority, readTarget } from '../../gateway/exchange/request-view.ts';
import { createOperationTable } from '../../gateway/plan/routes/operation-table.ts';
import { readTags } from '../../gateway/policy/body-notice/conditions.ts';
import { judgeHead } from '../../gateway/policy/body-notice/editable.ts';
import { renewDigest } from '../../gateway/policy/body-notice/notice.ts';
import { parseOperation } from '../../gateway/policy/lifecycle/operation-template.ts';
import { readingsOf } from '../../gateway/policy/paths/rules.ts';
import { renameUpstreamPolicies } from '../../gateway/policy/rate-limit/quota-headers.ts';
import { plainAccept, preferredType, readPreferences } from '../../gateway/policy/versioning/accept.ts';
import { resemblesVersion } from '../../gateway/policy/versioning/look-alike.ts';
import { parseMediaType, parseTemplate } from '../../gateway/policy/versioning/media-type.ts';
import { misspeltContent } from '../../gateway/policy/versioning/misspelt-type.ts';
import { ignoredNames, lookAlikes, parameterValues } from '../../gateway/policy/versioning/query.ts';
import { pathRulesOf } from '../../gateway/sections/routes/compile.ts';
import { createClientAddress } from '../../gateway/server/client-address.ts';
import { nominated } from '../../gateway/upstream/request-headers.ts';
import { LIMITS } from '../support/exchange-samples.ts';
import { mapped } from './mapped-service.ts';

const templates = ['application/vnd.acme.{version}+json', 'application/vnd.acme+json; version={n}'].flatMap(
  (text) => parseTemplate(text) ?? [],
);
const clientAddress = createClientAddress(['10.0.0.0/8']);
const tableOf = (templates: readonly string[]) =>
  createOperationTable(
    templates.flatMap((text) => {
      const parsed = parseOperation(`GET ${text}`);
      return parsed.kind === 'malformed' ? [] : [{ template: parsed.template, rules: text }];
    }),
  );
const OPERATIONS = tableOf(['/a5/{p}/b', `/${'l'.repeat(150)}`]);
const RESOURCES = tableOf(
  ['users', 'orders', 'repos', 'teams'].flatMap((name) => [
    ...[`/${name}`, `/${name}/{id}`, `/${name}/me`, `/${name}/{id}/items`, `/${name}/{id}/items/{item}`],
    ...[`/${name}/me/items/last`, `/${name}/{id}/items/{item}/notes/{note}`, `/${name}/{id}/{kind}/{item}/x`],
  ]),
);
/** A tail with everything that adds readings of a path. */
const SPECIAL = '%2Fq.j;x%3B%E2%84%AA%20%2540%3Fx';

function reach(operations: typeof OPERATIONS, path: string): unknown {
  return readingsOf(path, pathRulesOf(undefined))?.map((each) => operations.reached('GET', each));
}

const NOTHING = Buffer.alloc(0);

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ['authority', readAuthority],
  ['target', (text) => readTarget(`/${text}`, 'GET')],
  ['a path with operations', (text) => reach(OPERATIONS, `/A5${text}`)],
  ['a path with operations and long names', (text) => reach(OPERATIONS, `/${text}${SPECIAL}`)],
  [
    'a path with many operations',
    (text) => {
      // A multiple of three, so that an encoded blank stays whole.
      const part = text.slice(0, 2_046);
      reach(RESOURCES, `/users${part}/me${part}/items${part}/last${part}${SPECIAL}`);
    },
  ],
  ['Connection', nominated],
  ['Accept, read', (accept) => readPreferences(templates, new RecordFields({ accept }))],
  ['Accept, rewritten', (accept) => plainAccept(templates, accept, () => true)],
  ['Accept of errors', (accept) => preferredType(accept, ['application/json', 'application/problem+json'])],
  ['Content-Type of answers', (type) => judgeHead(200, { 'content-type': `application/json${type}` })],
  [
    'Cache-Control of answers',
    (text) => judgeHead(200, { 'content-type': 'application/json', 'cache-control': text }),
  ],
  ['If-None-Match', readTags],
  ['Content-Digest', (field) => renewDigest(field, NOTHING, NOTHING)],
  ['RateLimit of answers', (list) => renameUpstreamPolicies(`"default"${list}`, LIMITS)],
  ['query', (search) => parameterValues(`?${search}`, 'version')],
  ['Location', (location) => mapped({}, { location })],
  ['Refresh', (address) => mapped({}, { refresh: `5;${address}` })],
  ['Link', (links) => mapped({}, { link: `<a>${links}` })],
  ['Set-Cookie', (attributes) => mapped({}, { 'set-cookie': `a=1;${attributes}` })],
  ['query, look-alikes', (search) => lookAlikes(`?${search}`, 'version', ignoredNames(['v*[*]*x']))],
  ['query, one look-alike', (name) => lookAlikes(`?.${name}`, 'version', ignoredNames(['v*[*]*x']))],
  ['a segment', (segment) => resemblesVersion(`v${segment}`)],
  [
    'a media type',
    (text) =>
      misspeltContent(templates, parseMediaType(`${TYPE};version="${text}`), `${TYPE};version="${text}`),
  ],
  ['X-Forwarded-For', (chain) => clientAddress('10.0.0.1', chain)],
];

/** Repeated up to the length. These make regular expressions backtrack. */
const PIECES = [
  'a',
  'a.',
  ' ',
  '\t ',
  '",',
  '"',
  '\\',
  ';',
  '; ',
  ';charset=',
  '%',
  '%25',
  '%2e',
  '/.',
  '(',
  ':',
  '1,',
  '10.0.0.2,',
  '&',
  '=',
  'W/"',
  '-',
  'application/vnd.acme.v1+json,',
  'application/vnd.acme+json;version="1",',
  'application/vnd.acme+json ',
  ';version="',
  'version ',
  '="\\\\',
  '%00',
  '%2525',
  '%20',
  'A%C3%89',
  '+',
  'no-transform',
];

const TYPE = 'application/vnd.acme+json';
const LENGTH = 8 * 1024;
/** The unit of cost: normalising a path of 8 KiB, which takes 0.2 ms on a quiet machine. */
const normalise = () => workOf(() => readTarget(`/${'%24'.repeat(LENGTH / 3)}`, 'GET'));
/** 5 ms where normalising takes 0.2 ms. */
const MAX_TIMES_NORMALISED = 25;
const MAX_TIMES_FOR_ALL_READINGS = 5;

describe('8 KiB of any input take at most 5 ms of CPU on a quiet machine:', () => {
  it.each(READERS)('%s', (_name, read) => {
    const slow = PIECES.filter((piece) => {
      const text = piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
      // An invalid last character makes a match fail as late as possible.
      const isSlow = () => {
        const both = workOf(() => {
          read(text);
          read(`${text}\u0001`);
        });
        return both / normalise() > 2 * MAX_TIMES_NORMALISED;
      };
      // Repeated, because other threads of this process may have run at the same time.
      return isSlow() && isSlow() && isSlow();
    });
    expect(slow).toEqual([]);
  });
});

/** One path of five levels, and all paths with a literal or a parameter at each level. */
const LEVELS = [0, 1, 2, 3, 4];
const ONE = tableOf([`/${LEVELS.map(() => 'a').join('/')}/z`]);
const ALTERNATING = tableOf(
  Array.from({ length: 2 ** LEVELS.length }, (_, path) => {
    const names = LEVELS.map((level) => ((path >> level) % 2 === 0 ? 'a' : `{p${level}}`));
    return `/${names.join('/')}/z${path}`;
  }),
);
const LONG = tableOf([`/${LEVELS.map(() => 'a'.repeat(150)).join('/')}/z`]);
/** Each parser reads it differently. */
const END = '.j%20%3By;x%2Fq%E2%84%AA';
const HOSTILE = {
  'trailing blanks': (bytes: number) => `/a${'%20'.repeat(bytes / 3)}`,
  'leading blanks': (bytes: number) => `/${'%20'.repeat(bytes / 6)}a${'%20'.repeat(bytes / 12)};x`,
  'letters of two octets': (bytes: number) => `/${'A%C3%89'.repeat(bytes / 7)}`,
  'letters with case folding': (bytes: number) => `/${'%E2%84%AA'.repeat(bytes / 9)}`,
  suffixes: (bytes: number) => `/a${'.A'.repeat(bytes / 2)}`,
  parameters: (bytes: number) => `/A${'%20;a%3B'.repeat(bytes / 8)}`,
};

describe('a path is parsed once for any number of readings and operations:', () => {
  const judge = (table: typeof ONE, segment: string) => {
    const tail = `${segment.repeat(LEVELS.length)}/z1${END}`;
    return workOf(() => reach(table, tail));
  };
  const bytes = LENGTH / LEVELS.length;

  it.each(Object.entries(HOSTILE))('%s', (_name, segmentOf) => {
    const segment = segmentOf(bytes);
    for (const table of [ONE, ALTERNATING, LONG])
      expect(judge(table, segment) / normalise()).toBeLessThan(MAX_TIMES_FOR_ALL_READINGS);
  });
});

/** The minimum of several measurements, in milliseconds. */
function workOf(read: () => unknown): number {
  const rounds = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage();
    read();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...rounds);
}
