// The page of headers, from the notes on them and the lists of removed headers that the gateway uses.
import { answerFieldsOf, FIELD } from '../../gateway/plan/upstreams/answer-fields.ts';
import { CLAIMED_NAMES, CLAIMED_PREFIXES } from '../../gateway/policy/headers/client-fields.ts';
import { FORWARDED_HEADERS, type HeaderNote, READ_HEADERS, RESPONSE_HEADERS } from './header-notes.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

const HEADS = ['header', 'standard', 'when', 'meaning'];
const CLAIMS = '../concepts/upstreams.md#fields-that-clients-can-forge';

export function headerPages(): readonly Page[] {
  return [
    pageOf(
      'headers.md',
      'Headers',
      [
        'Find each header that the gateway reads or writes: when, and by which standard.',
        '',
        'The gateway forwards all other headers unchanged, in both directions, except those in the last section.',
        '`headers` in a policy file adds and removes headers.',
      ],
      [
        `## Requests that the gateway reads\n\n${tableOf(HEADS, READ_HEADERS.map(rowOf))}`,
        `## Requests to a service\n\n${tableOf(HEADS, FORWARDED_HEADERS.map(rowOf))}`,
        `## Responses to a client\n\n${tableOf(HEADS, RESPONSE_HEADERS.map(rowOf))}`,
        `## Removed headers\n\n${tableOf(['from', 'reason', 'headers'], removedRows())}`,
      ],
    ),
  ];
}

function rowOf({ names, others, standard, when, meaning }: HeaderNote): string[] {
  const all = [...names.map(code), ...(others === undefined ? [] : [others])];
  return [all.join(', '), standard, when, meaning];
}

function removedRows(): string[][] {
  const claims = [...CLAIMED_NAMES, ...CLAIMED_PREFIXES.map((prefix) => `${prefix}*`)].sort();
  const dropped = [...answerFieldsOf(undefined)].flatMap(([name, bits]) =>
    (bits & FIELD.dropped) === 0 ? [] : [name],
  );
  return [
    [
      'requests',
      `A client could claim an address, an identity or another target: see [upstreams](${CLAIMS}).`,
      claims.map(code).join(', '),
    ],
    ['requests', 'The name contains `_`, which some services read as `-`.', '`*_*`'],
    [
      'responses',
      'Framing of one connection, another authority, or a command to a proxy.',
      dropped.map(code).join(', '),
    ],
  ];
}
