// Messages beyond a bound (SMG-24): refused at once with the bound's status, or forwarded whole.
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const numbered = (count: number, length = 1): string[] =>
  Array.from({ length: count }, (_, at) => `X-${at}: ${'a'.repeat(length)}`);

export const sizes: readonly RequestCase[] = [
  refused('size-field', 'SMG-24', 'one field of 1 MB', (w) => w.get([`X-A: ${'a'.repeat(1_000_000)}`]), {
    status: [431],
  }),
  refused('size-name', 'SMG-24', 'a field name of 100 KB', (w) => w.get([`${'X'.repeat(100_000)}: 1`]), {
    status: [431],
  }),
  refused('size-fields', 'SMG-24', '1 MB in fields of 1 KB', (w) => w.get(numbered(1_000, 1_000)), {
    status: [431],
  }),
  refused(
    'size-endless',
    'SMG-24',
    'a field that does not end',
    (w) => `${w.get().slice(0, -2)}X: ${'a'.repeat(200_000)}`,
    {
      status: [431],
      truncated: true,
    },
  ),
  refused(
    'size-target',
    'SMG-24',
    'a target of 1 MB',
    (w) => w.target(`${w.path}/${'a'.repeat(1_000_000)}`),
    {
      status: [414, 431],
    },
  ),
  refused(
    'size-target-9k',
    'SMG-24',
    'a target of 9000 octets',
    (w) => w.target(`${w.path}/${'a'.repeat(9_000)}`),
    {
      status: [414],
      pass: ['refused', 'closed', 'forwarded'],
    },
  ),
  refused('size-query', 'SMG-24', 'a query of 1 MB', (w) => w.target(`${w.path}?${'a'.repeat(1_000_000)}`), {
    status: [414, 431],
  }),
  either(
    'size-2500-fields',
    'SMG-24',
    '2500 tiny fields: none may vanish',
    (w) => w.get([...numbered(2_500), 'X-Last: 1']),
    {
      status: [431],
      kept: [['x-0'], ['x-1250'], ['x-2499'], ['x-last']],
    },
  ),
  either(
    'size-1100-fields',
    'SMG-24',
    '1100 tiny fields: none may vanish',
    (w) => w.get([...numbered(1_100), 'X-Last: 1']),
    {
      status: [431],
      kept: [['x-0'], ['x-999'], ['x-1099'], ['x-last']],
    },
  ),
  either('size-30k', 'SMG-24', '30 KB of fields', (w) => w.get([...numbered(30, 1_000), 'X-Last: 1']), {
    status: [431],
    kept: [['x-0'], ['x-29'], ['x-last']],
  }),
  served('size-60-fields', 'SMG-24', '60 fields', (w) => w.get(numbered(60)), { kept: [['x-0'], ['x-59']] }),
  either('size-4k-field', 'SMG-24', 'a field of 4 KB', (w) => w.get([`X-Kept: ${'a'.repeat(4_000)}`]), {
    status: [200],
    kept: [['x-kept', /^a{4000}$/]],
  }),
  served('size-target-7k', 'SMG-24', 'a target of 7000 octets', (w) =>
    w.target(`${w.path}/${'a'.repeat(6_900)}`),
  ),
  served(
    'size-body',
    'FWD-20',
    'a body of 1 MB',
    (w) => w.post(['Content-Length: 1000000'], 'b'.repeat(1_000_000)),
    {
      body: 'b'.repeat(1_000_000),
    },
  ),
];
