// Invalid policy files: mistakes of every kind, and texts that are expensive to parse.

/** Each makes an invalid file from test/journeys/reload/orders.yaml.template, for any number. */
export const BAD_POLICIES: readonly ((good: string, number: number) => string)[] = [
  (good, number) => `${good}unknown_${number}: true\n`,
  (good, number) => `${good}broken_${number}: [\n`,
  (good, number) => good.replace('api: orders', `api: Orders ${number}`),
  (good, number) => good.replace('base: /api/orders', `base: orders/${number}`),
  (good, number) => good.replace('{version}', `{version}/{version}/${number}`),
  (good, number) => good.replace('access: public', `access: { identity: nobody${number} }`),
  (good, number) => good.replace('900000/1m', `-${number}/1m`),
  (good, number) => good.replace('900000/1m', `900000/${number}x`),
  (good, number) => good.replaceAll('path: /echo', `path: echo${number}`),
  (good, number) => good.replace('sunset: 2027-04-15', `sunset: 20${10 + number}-02-30`),
  (good, number) => good.replace('sunset: 2027-04-15', `sunset: 20${String(number).padStart(2, '0')}-01-01`),
  (good, number) => good.replace('successor: v2', `successor: v${number + 3}`),
  (good, number) => good.slice(0, 20 + number),
  (good, number) => good.replace('versions:', `__proto__: { polluted: ${number} }\nversions:`),
  (_good, number) => '# '.repeat(number),
];

/** Each must be refused within a second. */
export const BOMBS: readonly (readonly [what: string, text: string])[] = [
  ['more than 1 MB', 'x'.repeat(1_000_001)],
  ['a hundred thousand keys', Array.from({ length: 100_000 }, (_, index) => `k${index}:`).join('\n')],
  ['deep nesting', '['.repeat(400_000)],
  ['nesting below the token cap', '['.repeat(9_000)],
  ['deep lists', '- '.repeat(400_000)],
  ['endless errors', '{,'.repeat(400_000)],
  ['many documents', '---\n'.repeat(200_000)],
  [
    'a billion laughs',
    `a0: &a0 [x]\n${Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`)}]`).join('\n')}`,
  ],
];
