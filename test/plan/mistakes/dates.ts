// Rows for single-mistakes.test.ts: mistakes in dates, extensions, redirects, exceptions and notices.
import type { Mistake } from './mistake.ts';

export const DATES: readonly Mistake[] = [
  [
    'a day that does not exist',
    '2024-06-01',
    '2026-02-30',
    '9 «2026-02-30» error: not a calendar date (YYYY-MM-DD) or an instant with its offset: "2026-02-30" (write 2026-02-28)',
  ],
  [
    'DEP-5: a sunset before its deprecation',
    'sunset: 2027-01-15',
    'sunset: 2025-01-15',
    '9 «2025-01-15» error: sunset (2025-01-15) is before deprecated (2026-01-15)',
  ],
  [
    'a deprecation before release',
    'released: 2024-06-01',
    'released: 2026-06-01',
    '9 «2026-01-15» error: deprecated (2026-01-15) is before released (2026-06-01)',
  ],
  [
    'DEP-8: a deprecation that is announced after it begins',
    'deprecated: 2026-01-15',
    'announced: 2026-02-01, $&',
    '9 «2026-02-01» error: announced (2026-02-01) is after deprecated (2026-01-15): a deprecation is announced before it begins (announced 2026-01-15 or earlier)',
  ],
  [
    'DEP-8: a deprecation that is announced before the release',
    'deprecated: 2026-01-15',
    'announced: 2023-02-01, $&',
    '9 «2023-02-01» error: announced (2023-02-01) is before released (2024-06-01) (announced 2024-06-01 or later)',
  ],
  [
    'DEP-4: a sunset without a deprecation',
    'deprecated: 2026-01-15, ',
    '',
    '9 «sunset» warning: a sunset without deprecated: before the version ends, callers get a Sunset header, but no Deprecation and no mail',
  ],
  [
    'an extension that shortens',
    'successor: v2',
    'extended: [{ to: 2027-01-01, announced: 2026-01-01 }]',
    '9 «2027-01-01» error: an extension to 2027-01-01 is not after the sunset it moves (2027-01-15) (write 2027-01-16 or later)',
  ],
  [
    'RET-4: a redirect loop',
    'successor: v2 }',
    'after: { redirect: v1 } }',
    '9 «v1» error: this is a redirect loop',
  ],
  [
    'RET-4: a redirect to a version that ends earlier',
    'released: 2026-01-15',
    'released: 2026-01-15, deprecated: 2026-01-15, sunset: 2026-02-01 }\n  v3: { released: 2026-01-15, deprecated: 2026-01-15, sunset: 2026-03-01, after: { redirect: v2 }',
    '11 «v2» error: v3 ends on 2026-03-01, and v2 has ended by then (sunset of v2 2027-03-01 or later)',
  ],
  [
    'RET-5: a redirect to another form of its own label',
    'successor: v2 }',
    'successor: v2 }\n  v1.1.0: { released: 2024-06-01, after: { redirect: v1 } }',
    '10 «v1» error: this is a redirect loop',
  ],
  [
    'a redirect before its target is released',
    'successor: v2 }\n  v2: { released: 2026-01-15',
    'after: { redirect: v2 } }\n  v2: { released: 2027-06-15',
    '9 «2027-01-15» error: v1 ends before its redirect target v2 is released (2027-06-15) (sunset 2027-06-15 or later)',
  ],
  [
    'LNK-3: a guide that is neither a URL nor a path',
    'guide: https://docs.example.com/v2',
    'guide: guides/v2.html',
    '9 «guides/v2.html» error: not an absolute https URL with everything else percent-encoded, nor the path of a Markdown file: "guides/v2.html" (write the guide beside this file and name it, such as ./guides/v1-to-v2.md, or the address of its page)',
  ],
  [
    'LNK-3: a guide with a bracket in it',
    'guide: https://docs.example.com/v2',
    'guide: "https://x.example/<a>"',
    '9 «"https://x.example/<a>"» error: not an absolute https URL with everything else percent-encoded, nor the path of a Markdown file: "https://x.example/<a>" (write https://x.example/%3Ca%3E)',
  ],
  [
    'a control character in a reason',
    'successor: v2',
    'reason: "a\\r\\nX: y"',
    '9 «"a\\r\\nX: y"» error: this text has several lines (write it on one line)',
  ],
  [
    'a right-to-left override in a reason',
    'successor: v2',
    'reason: "a\\u202Eb"',
    '9 «"a\\u202Eb"» error: the control character U+202E is not allowed in a text (remove it)',
  ],
  [
    'extensions in the wrong order',
    'successor: v2',
    'successor: v2, extended: [ { to: 2027-05-15, announced: 2026-08-02 }, { to: 2027-09-15, announced: 2026-08-01 } ]',
    '9 «2026-08-01» warning: announced (2026-08-01) before the extension above it (2026-08-02) (write extensions in the order in which they were announced)',
  ],
  [
    'an exception for a consumer with a blank',
    'successor: v2',
    'successor: v2, exceptions: [ { consumer: "acme ", until: 2027-01-10, from: [brownouts], why: x, by: y } ]',
    '9 «"acme "» error: the consumer begins or ends with a blank, so it matches no token (remove the blank)',
  ],
];
