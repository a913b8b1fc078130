// The page of refusals and faults with statuses and bodies, from the code that writes them.
import { type ErrorDescription, reasonPhrase } from '../../gateway/exchange/answers/error-body.ts';
import { answersOfFaults, answersOfRefusals } from '../../test/support/readme-refusals.ts';
import { type ErrorNote, FAULT_NOTES, REFUSAL_NOTES } from './error-notes.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

const HEADS = ['reason', 'status', 'when', 'cure', 'message'];

export function errorPages(): readonly Page[] {
  const refusals = Array.from(answersOfRefusals(), ([reason, answers]) =>
    rowOf(reason, answers, REFUSAL_NOTES[reason]),
  );
  const faults = Array.from(answersOfFaults(), ([fault, answer]) =>
    rowOf(fault, [answer], FAULT_NOTES[fault]),
  );
  return [
    pageOf(
      'errors.md',
      'Errors',
      [
        'Find what an error of the gateway means, and what to do.',
        '',
        'The reason is in the access log: `refusal` for a refusal, `fault` for a fault. Each error of the gateway has a `Proxy-Status` line that',
        'begins with `sundial`. An error without this line comes from your service.',
      ],
      [bodySection(), `## Refusals\n\n${tableOf(HEADS, refusals)}`, `## Faults\n\n${tableOf(HEADS, faults)}`],
    ),
  ];
}

function bodySection(): string {
  const { status, message, members } = answersOfRefusals().get('rate_limited')?.[0] ?? {};
  if (status === undefined) throw new Error('no answer is shown');
  const body = JSON.stringify({ error: reasonPhrase(status), message, ...members });
  return [
    '## The body',
    `\`\`\`json\n${body}\n\`\`\``,
    'Each body has `error` and `message`. Other members depend on the reason:',
    tableOf(['member', 'reasons'], membersByName()),
    'If `Accept` prefers `application/problem+json` to `application/json`, the body has the form of RFC 9457 and the same members.',
  ].join('\n\n');
}

function membersByName(): string[][] {
  const reasons = new Map<string, Set<string>>();
  const answers: (readonly [string, readonly ErrorDescription[]])[] = [
    ...answersOfRefusals(),
    ...Array.from(answersOfFaults(), ([fault, answer]) => [fault, [answer]] as const),
  ];
  for (const [reason, described] of answers)
    for (const { members } of described)
      for (const [member, value] of Object.entries(members))
        if (value !== undefined) reasons.set(member, (reasons.get(member) ?? new Set()).add(reason));
  return Array.from(reasons, ([member, names]) => [code(member), [...names].map(code).join(', ')]);
}

function rowOf(reason: string, answers: readonly ErrorDescription[], { when, cure }: ErrorNote): string[] {
  const statuses = [...new Set(answers.map(({ status }) => status))].sort((one, other) => one - other);
  return [code(reason), statuses.join(', '), when, cure, answers[0]?.message || 'Says what is wrong.'];
}
