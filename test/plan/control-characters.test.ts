// Tests that no text of any file may hold control characters, which would change how logs and pages show it.
import { describe, expect, it } from 'vitest';
import { textPlaces } from '../support/grammar-places.ts';
import { GATEWAY, loadTexts, ORDERS, sentence, workspace } from './workspace.ts';

const code = (from: number, to = from) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
/** C0 without line ends, DEL, C1, bidi controls, line and paragraph separators, a lone surrogate. */
const CONTROLS = [
  ...code(0x00, 0x1f).filter((each) => each !== 0x0a && each !== 0x0d),
  ...code(0x7f, 0x9f),
  0x061c,
  0x200e,
  0x200f,
  ...code(0x2028, 0x202e),
  ...code(0x2066, 0x2069),
  0xd800,
];

const escaped = (text: string): string =>
  `"${Array.from(text, (each) => `\\u${(each.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join('')}"`;
const called = (name: string): string =>
  name === 'U+D800' ? `the lone surrogate ${name}, half of a character,` : `the control character ${name}`;
const named = (point: number): string => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;

describe.each(['policy', 'gateway'] as const)('a text of a %s file', (kind) => {
  it('is refused with a control character, in every place', async () => {
    const places = textPlaces(kind);
    expect(places.length).toBeGreaterThan(30);
    const accepted: string[] = [];
    for (const [index, place] of places.entries()) {
      const point = CONTROLS[index % CONTROLS.length] ?? 0;
      if (place.startsWith('headers.') && point === 0x09) continue;
      const yaml = nested(place.split('.'), escaped(`ab${String.fromCharCode(point)}c`));
      const found = await (kind === 'policy' ? problemsOf(yaml) : problemsOf(ORDERS, yaml));
      if (!found.some((each) => each.includes(`${called(named(point))} is not allowed in a text`)))
        accepted.push(`${place}: ${named(point)}`);
    }
    expect(accepted).toEqual([]);
  });
});

it.each(CONTROLS.map(named))('%s is refused in a value, in a key, and from a variable', async (name) => {
  const control = String.fromCodePoint(Number.parseInt(name.slice(2), 16));
  const message = `${called(name)} is not allowed in a text`;
  expect((await problemsOf(`${ORDERS}reason: ${escaped(`a${control}b`)}\n`)).join()).toContain(
    `${message} (remove it)`,
  );
  expect(
    (await problemsOf(`${ORDERS}contacts: { ${escaped(`a${control}b`)}: a@b.example }\n`)).join(),
  ).toContain(message);
  const brought = await problemsOf(`${ORDERS}contacts: { acme: "\${env:MAIL}" }\n`, GATEWAY, {
    MAIL: `a${control}@b.example`,
  });
  expect(brought.join()).toContain(`${message} (from MAIL)`);
  if (name !== 'U+D800' && name !== 'U+0000') {
    // Raw, not as an escape: YAML itself refuses some of these.
    const raw = (await problemsOf(`${ORDERS}reason: "a${control}b"\n`)).join();
    expect(raw).toMatch(/error: /);
    expect(raw).toContain(named(control.codePointAt(0) ?? 0));
  }
});

it.each(['reason: |\n  one\n  two\n', 'reason: "one\\ntwo"\n', 'reason: "one\\r"\n'])(
  '%j has several lines where only one is allowed',
  async (line) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS + line });
    expect((await files.problems()).join()).toContain(
      'error: this text has several lines (write it on one line)',
    );
  },
);

it('a tab is allowed in a field value only', async () => {
  const set = (value: string) => `${ORDERS}headers: { request: { set: { X-A: ${value} } } }\n`;
  await using files = await workspace({ 'policies/orders.yaml': set('"a\\tb"') });
  expect(await files.problems()).toEqual([]);
  await files.write('policies/orders.yaml', set('"a\\u0007b"'));
  expect((await files.problems()).join()).toContain('U+0007');
});

it('a guide may have lines and tabs, but no other control character', async () => {
  const policy = ORDERS.replace('https://docs.example.com/v2', './guides/v2.md');
  await using files = await workspace({
    'policies/orders.yaml': policy,
    'policies/guides/v2.md': '# To v2\r\n\n\tcode\n',
  });
  expect(await files.problems()).toEqual([]);
  for (const point of CONTROLS.filter((each) => each !== 0x09 && each !== 0xd800)) {
    await files.write('policies/guides/v2.md', `# To v2\n\nsee ${String.fromCodePoint(point)} there\n`);
    expect((await files.problems()).join()).toContain(
      `error: the guide holds the control character ${named(point)} in line 3 (remove it)`,
    );
  }
});

it('other scripts, joined emoji and soft hyphens are allowed', async () => {
  for (const text of ['سجل الطلبات', 'עברית', 'naïve', '👩\u200d👩\u200d👧', 'co\u00adoperate', '日本語']) {
    await using files = await workspace({ 'policies/orders.yaml': `${ORDERS}reason: ${text}\n` });
    expect(await files.problems()).toEqual([]);
  }
});

it('the files of the workspace have no findings', async () => {
  await using files = await workspace({ 'policies/orders.yaml': ORDERS, 'config/gateway.yaml': GATEWAY });
  expect(await files.problems()).toEqual([]);
});

async function problemsOf(policy: string, gateway = GATEWAY, environment = {}): Promise<readonly string[]> {
  return (await loadTexts(policy, gateway, environment)).problems.map(sentence);
}

function nested(path: readonly string[], value: string): string {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const inner = nested(rest, value);
  return key === '#' ? `[${inner}]` : `{ ${key === '*' ? 'v1' : key}: ${inner} }`;
}
