// Tests the findings about services that may use another method than the one that the gateway judged.
import { describe, expect, it } from 'vitest';
import { workspace } from './workspace.ts';

interface Written {
  readonly access?: string;
  readonly operations?: string;
  readonly headers?: string;
  readonly rest?: string;
}

const policy = ({ access, operations, headers = '', rest = '' }: Written) => `api: orders
base: /api/orders
access: ${access ?? '{ identity: main, scopes: { read: [r], write: [w] } }'}
${headers}
upstreams: { v1: { targets: ["http://127.0.0.1:4001"] } }
resolve: [ { path: "/api/{version}/orders" } ]
versions: { v1: { released: 2024-06-01${operations === undefined ? '' : `, operations: { ${operations} }`} ${rest} } }
`;
const described = (content: string) => `openapi: 3.1.0
info: { title: Orders, version: v1 }
paths:
  /orders/{id}:
    post:
      requestBody: { content: { ${content}: {} } }
      responses: {}
    delete: { responses: {} }
`;

async function said(text: string, files: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  await using folder = await workspace({ 'policies/orders.yaml': text, ...files });
  const { problems } = await folder.load();
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return problems
    .filter(({ rule }) => rule === 'method-override')
    .map(({ line, severity, message }) => `${line} ${severity}: ${message}`);
}

const STRICTER = '"DELETE /items/{id}": { access: { scopes: [admin] } }';
const BY_FORM = `7 warning: a POST with the form field _method=DELETE needs fewer scopes than this operation`;
const BY_HEADER =
  '4 warning: scopes and operation rules use the method of the request, not the method in this header';

describe('method-override', () => {
  it.each<[string, Written]>([
    ['a stricter DELETE', { operations: STRICTER }],
    [
      'a stricter DELETE beside a POST operation',
      { operations: `${STRICTER}, "POST /items/{x}": { access: { scopes: [w] } }` },
    ],
    [
      'a stricter DELETE beside a public POST',
      { operations: `${STRICTER}, "POST /items/{id}": { access: public }` },
    ],
    [
      'a stricter DELETE in an API that needs no scopes',
      { access: '{ identity: main, scopes: any }', operations: STRICTER },
    ],
  ])('warns of _method for %s', async (_what, written) => {
    expect(await said(policy(written))).toEqual([BY_FORM]);
  });

  it.each<[string, Written]>([
    ['no operation', {}],
    ['an operation without access', { operations: '"DELETE /items/{id}": { max_body: 1MB }' }],
    ['the same scope for POST', { operations: '"DELETE /items/{id}": { access: { scopes: [w] } }' }],
    ['any caller', { operations: '"DELETE /items/{id}": { access: { scopes: any } }' }],
    ['a public DELETE', { operations: '"DELETE /items/{id}": { access: public }' }],
    ['a rule of POST alone', { operations: '"POST /items/{id}": { access: { scopes: [admin] } }' }],
    ['a rule of all methods', { operations: '"* /items/{id}": { access: { scopes: [admin] } }' }],
    ['no POST at all', { access: '{ identity: main, scopes: { read: [r] } }', operations: STRICTER }],
    ['a POST as strict', { operations: `${STRICTER}, "POST /items/{x}": { access: { scopes: [admin] } }` }],
    ['all methods as strict', { operations: `${STRICTER}, "* /items/{x}": { access: { scopes: [admin] } }` }],
    ['the rule switched off', { operations: STRICTER, headers: 'rules: { method-override: off }' }],
  ])('does not warn of _method for %s', async (_what, written) => {
    expect(await said(policy(written))).toEqual([]);
  });

  it.each([
    ['application/json', []],
    ['application/x-www-form-urlencoded', [BY_FORM]],
    ['"multipart/form-data; boundary=x"', [BY_FORM]],
    ['"*/*"', [BY_FORM]],
  ])('uses the description of a version, whose POST takes %s', async (content, expected) => {
    const text = policy({ operations: STRICTER, rest: ', openapi: ./specs/orders.yaml' });
    expect(await said(text, { 'policies/specs/orders.yaml': described(content) })).toEqual(expected);
  });

  const keep = (name: string) => `headers: { request: { keep: [${name}], from: any } }`;

  it.each<[string, Written]>([
    ['other scopes for reading', {}],
    ['an operation with rules', { access: 'public', operations: '"GET /x": { max_body: 1MB }' }],
  ])('warns of a kept override header beside %s', async (_what, written) => {
    expect(await said(policy({ ...written, headers: keep('X-HTTP-Method-Override') }))).toEqual([BY_HEADER]);
  });

  it.each<[string, Written]>([
    [
      'the same scopes for all methods',
      { access: '{ identity: main, scopes: any }', headers: keep('X-HTTP-Method') },
    ],
    ['a public API', { access: 'public', headers: keep('X-HTTP-Method') }],
    ['another field kept', { headers: keep('Remote-User') }],
  ])('does not warn of a kept header for %s', async (_what, written) => {
    expect(await said(policy(written))).toEqual([]);
  });
});
