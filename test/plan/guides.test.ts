// Tests guides that are Markdown files: their URLs, their HTML, and the errors that refuse a policy.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../gateway/plan/guides/read-guides.ts';
import { guideId } from '../../gateway/policy/lifecycle/guide.ts';
import { ORDERS, workspace } from './workspace.ts';

const named = (guide: string) => ORDERS.replace('https://docs.example.com/v2', guide);
const FILE = 'policies/guides/v1-to-v2.md';
const POLICY = named('./guides/v1-to-v2.md');
const PAGE = 'https://api.example.com/.well-known/lifecycle/orders#guide-v1-to-v2';

describe('a guide from a file', () => {
  it('is read with its policy, and its URL is on the lifecycle page', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, [FILE]: '# From v1\n\nmoney' });
    const [api] = (await files.load()).plan?.apis ?? [];
    expect(api?.versions.get('v1')?.schedule.guide).toBe(PAGE);
    expect(api?.guides).toEqual([{ id: 'guide-v1-to-v2', html: '<h2>From v1</h2>\n<p>money</p>\n' }]);
  });

  it('of the API applies to its versions, and is read once for all of them', async () => {
    const operations = 'operations: { GET /old: { deprecated: 2026-05-01, guide: ./guides/old.md } }';
    const policy = POLICY.replace('base:', 'guide: ./guides/v1-to-v2.md\nbase:').replace(
      'v2: { released: 2026-01-15 }',
      `v2: { released: 2026-01-15, deprecated: 2026-06-01, ${operations} }`,
    );
    await using files = await workspace({
      'policies/orders.yaml': policy,
      [FILE]: 'a',
      'policies/guides/old.md': 'b',
    });
    const { plan, problems } = await files.load();
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(plan?.apis[0]?.guides.map(({ id }) => id)).toEqual(['guide-v1-to-v2', 'guide-old']);
    const v2 = plan?.apis[0]?.versions.get('v2');
    expect(v2?.schedule.guide).toBe(PAGE);
    expect(v2?.operations?.list[0]?.schedule.guide).toBe(PAGE.replace('v1-to-v2', 'old'));
  });

  it('changes the plan when its text changes', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, [FILE]: 'before' });
    const before = await files.load();
    expect(before.policies?.descriptions).toEqual([`${files.folder}/${FILE}`]);
    await files.write(FILE, 'after');
    expect((await files.load()).plan?.revision).not.toBe(before.plan?.revision);
  });

  it.each([
    ['is missing', undefined, 'cannot read the guide: no such file (its path is relative to this file)'],
    ['is too large', 'a'.repeat(65_537), 'the guide is larger than 64 KB'],
    ['is not UTF-8', new Uint8Array([0xff, 0xfe]), 'the guide is not UTF-8'],
    ['is nested too deeply', '>'.repeat(60_000), 'the guide is nested too deeply'],
  ])('that %s refuses the policy at the line that names it', async (_, text, message) => {
    await using files = await workspace({
      'policies/orders.yaml': POLICY,
      ...(text === undefined ? {} : { [FILE]: text }),
    });
    expect(await files.problems()).toEqual([
      `policies/orders.yaml:9 «./guides/v1-to-v2.md» error: ${message}`,
    ]);
  });

  it('needs a unique name on the page', async () => {
    const policy = POLICY.replace(
      'v2: { released: 2026-01-15 }',
      'v2: { released: 2026-01-15, guide: ./v1-to-v2.md }',
    );
    await using files = await workspace({
      'policies/orders.yaml': policy,
      [FILE]: 'a',
      'policies/v1-to-v2.md': 'b',
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:10 «./v1-to-v2.md» error: another guide has the name v1-to-v2 (names must be unique on the page: rename one)',
    ]);
  });
});

describe('OAS-2: migration-guide of a description, if the guide is a file', () => {
  const policy = POLICY.replace('successor: v2 }', 'successor: v2, openapi: ../v1.yaml }');
  const described = (guide: string) =>
    `openapi: 3.1.1\ninfo: { title: Orders, version: 1.0.0, x-lifecycle: { migration-guide: "${guide}" } }\npaths: {}\n`;

  it.each([
    [PAGE, true],
    [PAGE.replace('api.example.com', '127.0.0.1:8443'), true],
    ['/.well-known/lifecycle/orders#guide-v1-to-v2', true],
    ['https://docs.example.com/orders', false],
    [PAGE.replace('v1-to-v2', 'v0-to-v2'), false],
  ])('%s leads there: %s', async (guide, agrees) => {
    await using files = await workspace({
      'policies/orders.yaml': policy,
      [FILE]: 'a',
      'v1.yaml': described(guide),
    });
    const found = (await files.problems()).filter((each) => each.includes('migration-guide'));
    expect(found).toHaveLength(agrees ? 0 : 1);
  });
});

describe('Markdown on a page', () => {
  it.each([
    ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n'],
    ['a <b onclick="x">b</b>', '<p>a &lt;b onclick=&quot;x&quot;&gt;b&lt;/b&gt;</p>\n'],
    ['[a](javascript:alert(1)) [b](data:text/html,x)', '<p>a b</p>\n'],
    ['[a](/relative) <javascript:x>', '<p>a javascript:x</p>\n'],
    ['[a](https://x.example/?a="&b)', '<p><a href="https://x.example/?a=&#34;&#38;b">a</a></p>\n'],
    ['[a](#top "a title")', '<p><a href="#top">a</a></p>\n'],
    ['![a <picture>](https://x.example/a.png)', '<p>a &#60;picture&#62;</p>\n'],
    ['# one\n###### six', '<h2>one</h2>\n<h6>six</h6>\n'],
    [
      '```json"><i>\n<a> & "b"\n```',
      '<pre tabindex="0"><code>&#60;a&#62; &#38; &#34;b&#34;\n</code></pre>\n',
    ],
    ['`<i>` *a* **b**', '<p><code>&lt;i&gt;</code> <em>a</em> <strong>b</strong></p>\n'],
  ])('%j', (markdown, html) => {
    expect(renderMarkdown(markdown)).toBe(html);
  });

  it('has only known tags and attributes, for any text', () => {
    const part = fc.constantFrom(
      ...[
        '<',
        '>',
        '"',
        "'",
        '&',
        '&#60;',
        '`',
        '```',
        '*',
        '[',
        '](',
        ')',
        '!',
        '#',
        '\n',
        '\n\n',
        '- ',
        '> ',
        '|',
        '|-|',
      ],
      ...[
        '<script>',
        '</a>',
        '<!--',
        '-->',
        '<pre>',
        '<![CDATA[',
        ' onload=',
        'javascript:',
        'https://x.example/',
        '\\',
        'a',
      ],
    );
    const TAG =
      /<\/?(?:h[2-6]|p|ul|ol|li|table|thead|tbody|tr|th|td|code|em|strong|del|blockquote)>|<hr>|<br>|<pre tabindex="0">|<\/pre>|<a href="(?:https?:\/\/|mailto:|#)[^"<>]*">|<\/a>|<ol start="\d+">|<t[hd] align="\w+">/gi;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const rest = renderMarkdown(parts.join(''))?.replace(TAG, '');
        expect(rest).not.toMatch(/[<>]/);
      }),
      { numRuns: 300 },
    );
  });
});

it('the id of a guide comes from its file name', () => {
  expect(guideId('./guides/orders-v1-to-v2.md')).toBe('guide-orders-v1-to-v2');
});
