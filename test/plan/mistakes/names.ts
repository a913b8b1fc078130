// Rows for single-mistakes.test.ts: mistakes in keys, names and references.
import { expect } from 'vitest';
import type { Mistake } from './mistake.ts';

export const NAMES: readonly Mistake[] = [
  [
    'a rule about paths at the top',
    'access:',
    'encoded_slash: keep\naccess:',
    '4 «encoded_slash» error: unknown key "encoded_slash" (write paths: { encoded_slash: … })',
  ],
  [
    'a letter of another alphabet',
    'access:',
    'ap\u0456: x\naccess:',
    '4 «ap\u0456» error: unknown key "ap\u0456" with U+0456, which is not ASCII (did you mean "api"?)',
  ],
  [
    'a number in place of a word',
    'access:',
    'paths: 3\naccess:',
    expect.stringMatching(/^policies.orders.yaml:4 «3» error: expected "express", .* or a map: 3$/),
  ],
  [
    'a boolean in quotes',
    'access:',
    'shared: "true"\naccess:',
    '4 «"true"» error: expected true or false: "true" (write true, without quotes)',
  ],
  [
    'an empty list',
    'access:',
    'headers: { request: { keep: [], from: any } }\naccess:',
    '4 «[]» error: the list is empty (add an entry, or leave the key out)',
  ],
  [
    'a version whose keys are not indented',
    '  v2: { released: 2026-01-15 }',
    '  v2:\n  released: 2026-01-15',
    '10 «v2» error: there is no value behind "v2": add one, or remove it (indent its value further than the key; quote a value that begins with #)',
  ],
  [
    'a key of a version that is not indented',
    '  v2: { released: 2026-01-15 }',
    '  v2:\n  released: 2026-01-15',
    '11 «released» error: not a version label: "released" (it belongs to the version above: indent it further)',
  ],
  [
    'cors as a boolean',
    'access:',
    'cors: no\naccess:',
    '4 «no» error: expected a map: "no" (write nothing: without "cors", preflights go to the service)',
  ],
  [
    'idempotency as a boolean',
    'access:',
    'idempotency: true\naccess:',
    '4 «true» error: expected a map: true (write idempotency: { methods: [POST, PUT, PATCH] })',
  ],
  [
    'idempotency as a method',
    'access:',
    'idempotency: POST\naccess:',
    '4 «POST» error: expected a map: "POST" (write idempotency: { methods: [POST] })',
  ],
  ['an unknown key', 'access:', 'acces:', '4 «acces» error: unknown key "acces" (did you mean "access"?)'],
  [
    'an unknown key of a version',
    'released: 2026-01-15',
    'relased: 2026-01-15',
    '10 «relased» error: unknown key "relased" (did you mean "released"?)',
  ],
  [
    'a key of the gateway file',
    'api: orders',
    'api: orders\nstore: x',
    '2 «store» error: the key "store" belongs in config/gateway.yaml',
  ],
  [
    'no access rule',
    /access:.*\n/,
    '',
    '1 «api: orders» error: no access rule: write "access: public", or name an identity and its scopes',
  ],
  [
    'a number in place of a text',
    'api: orders',
    'api: 7',
    '1 «7» error: not a name: a lower-case letter, then letters, digits and hyphens: 7',
  ],
  [
    'a number as a label',
    '  v2: { released',
    '  1.10: { released',
    '10 «1.10» error: not a version label: "1.10" (write v and the number, such as v1 or v1.2.0, or a date such as 2026-01-15)',
  ],
  [
    'an unknown word',
    'successor: v2',
    'successor: v2, after: gon',
    '9 «gon» error: expected "gone" or a map: "gon" (did you mean "gone"?)',
  ],
  [
    'an unknown identity',
    'identity: main',
    'identity: mian',
    '4 «mian» error: no identity is called "mian" (did you mean "main"?)',
  ],
  [
    'an unknown successor',
    'successor: v2',
    'successor: v22',
    '9 «v22» error: no version is called "v22" (did you mean "v2"?)',
  ],
  [
    'a version that is its own successor',
    'successor: v2',
    'successor: v1',
    '9 «v1» error: a version cannot be its own successor',
  ],
  [
    'an inherited property name',
    'successor: v2',
    'successor: constructor',
    '9 «constructor» error: no version is called "constructor" (there are v1, v2)',
  ],
  [
    'an upstream without version',
    '  v2: { targets',
    '  v3: { targets',
    '7 «v3» error: no version is called "v3" (there are v1, v2)',
  ],
  [
    'a version without upstream',
    /\n {2}v1: \{ targets.*/,
    '',
    '8 «v1» error: v1 has no upstream and its sunset has not passed (write upstreams: { v1: { targets: [ … ] } })',
  ],
  [
    'a host with a port',
    'base:',
    'host: api.example.com:443\nbase:',
    '2 «api.example.com:443» error: not a host name in lower case, without a port: "api.example.com:443"',
  ],
  [
    'a label without its last part',
    '  v2: { released',
    '  v1.10: { released',
    '10 «v1.10» error: not a version label: "v1.10" (write v and the number, such as v1 or v1.2.0, or a date such as 2026-01-15)',
  ],
];
