// Promise 5: no pattern that reads what a stranger sends costs more than its length explains.
// Work and not time, and the least of several measurements, so that a busy machine fails nothing.
import { describe, expect, it } from 'vitest';
import { readAuthority } from '../../gateway/exchange/authority.ts';
import { readTarget } from '../../gateway/exchange/target.ts';
import { nominated } from '../../gateway/forward/hop-by-hop.ts';
import { createOperationTable } from '../../gateway/plan/operation-table.ts';
import { renewDigest } from '../../gateway/policy/body-notice/digest.ts';
import { judgeHead } from '../../gateway/policy/body-notice/editable.ts';
import { readTags } from '../../gateway/policy/body-notice/entity-tag.ts';
import { parseOperation } from '../../gateway/policy/lifecycle/operation-template.ts';
import { readingsOf } from '../../gateway/policy/paths/rules.ts';
import { pathRulesOf } from '../../gateway/policy/paths/section.ts';
import { besideOurs } from '../../gateway/policy/rate-limit/upstream-quotas.ts';
import { plainAccept, readPreferences } from '../../gateway/policy/versioning/accept.ts';
import { resemblesVersion } from '../../gateway/policy/versioning/look-alike.ts';
import { parseMediaType, parseTemplate } from '../../gateway/policy/versioning/media-type.ts';
import { misspeltContent } from '../../gateway/policy/versioning/misspelt-type.ts';
import { preferredType } from '../../gateway/policy/versioning/preferred-type.ts';
import { ignoredNames, lookAlikes, parameterValues } from '../../gateway/policy/versioning/query.ts';
import { createClientAddress } from '../../gateway/server/client-address.ts';
import { LIMITS } from '../support/exchange-samples.ts';
import { mapped } from './mapped-service.ts';

const templates = ['application/vnd.acme.{version}+json', 'application/vnd.acme+json; version={n}'].flatMap(
  (text) => parseTemplate(text) ?? [],
);
const clientAddress = createClientAddress(['10.0.0.0/8']);
const OPERATIONS = createOperationTable(
  ['GET /a5/{p}/b', `GET /${'l'.repeat(100)}`].flatMap((text) => {
    const parsed = parseOperation(text);
    return parsed.kind === 'malformed' ? [] : [{ template: parsed.template, rules: text }];
  }),
);
const NOTHING = Buffer.alloc(0);

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ['authority', readAuthority],
  ['target', (text) => readTarget(`/${text}`, 'GET')],
  [
    'a path with operations',
    (text) =>
      readingsOf(`/A5${text}`, pathRulesOf(undefined))?.map((path) => OPERATIONS.reached('GET', path)),
  ],
  ['Connection', nominated],
  ['Accept, read', (accept) => readPreferences(templates, { accept })],
  ['Accept, rewritten', (accept) => plainAccept(templates, accept, () => true)],
  ['Accept of errors', (accept) => preferredType(accept, ['application/json', 'application/problem+json'])],
  ['Content-Type of answers', (type) => judgeHead(200, { 'content-type': `application/json${type}` })],
  [
    'Cache-Control of answers',
    (text) => judgeHead(200, { 'content-type': 'application/json', 'cache-control': text }),
  ],
  ['If-None-Match', readTags],
  ['Content-Digest', (field) => renewDigest(field, NOTHING, NOTHING)],
  ['RateLimit of answers', (list) => besideOurs(`"default"${list}`, LIMITS)],
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

/** Each to be repeated up to the length: what patterns go back over, again and again. */
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
  '+',
  'no-transform',
];

const TYPE = 'application/vnd.acme+json';
const LENGTH = 8 * 1024;
const MOST_MS = 5;

describe('promise 5: 8 KiB of anything are read with 5 ms of work:', () => {
  it.each(READERS)('%s', (_name, read) => {
    const slow = PIECES.filter((piece) => {
      const text = piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
      // One that ends as nothing may end fails at the last moment.
      const rounds = Array.from({ length: 8 }, () => {
        const before = process.cpuUsage();
        read(text);
        read(`${text}\u0001`);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 2_000;
      });
      return Math.min(...rounds) > MOST_MS;
    });
    expect(slow).toEqual([]);
  });
});
