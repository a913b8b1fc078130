// A value that no finding may repeat, in every form that YAML has for it, and all that is printed of two files.
// For the tests of what is concealed.
import { forMachines } from '../../gateway/cli/command-result.ts';
import { headline, renderProblems } from '../../gateway/plan/problems.ts';
import { loadTexts } from './workspace.ts';

export const CANARY = 'canary-9f3b71';

/** The value as YAML has it: `%` stands for the canary. */
export const FORMS = [
  '%',
  '"%"',
  "'%'",
  '[%]',
  '[[%]]',
  '{ a: % }',
  '{ a: { b: [%] } }',
  '"% \\u0007"',
  '"%ä"',
  '"x\\n%"',
  '|\n      %\n      more',
  '>-\n      %',
  '!!binary %',
  '&a %',
  '"%',
  '%: %',
  `% \${env:NONE}`,
  // What a generated secret may begin with.
  '*%',
  '!%',
  '!% y',
  '!%%41 y',
  '!<%> y',
  '!a!% y',
  '&% y',
  '&a !% y',
  '""%""',
  "''%''",
  '"% \\q"',
  '>-  %',
  '| %',
  `\${%`,
  `\${env:NONE:-%}`,
  `\${env:NONE:-% } y`,
  `\${% y`,
  '@%',
  '`%',
  '%%',
  '? %',
  '- %',
  '{ % : 1, % : 2 }',
  '{ 1: % }',
  '{ a: %',
  '] %',
  `"\${env:NONE:-x}%ü"`,
];
/** Every form of every finding. */
export async function said(policy: string, gateway: string): Promise<string> {
  const { problems } = await loadTexts(policy, gateway);
  return [
    renderProblems(problems, { colour: false }),
    ...problems.map(headline),
    JSON.stringify(problems.map(forMachines)),
    JSON.stringify(problems),
  ].join('\n');
}
