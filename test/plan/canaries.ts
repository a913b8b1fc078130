// A secret in every form of YAML, and all output of two files, for the tests of concealed values.
import { forMachines } from '../../gateway/cli/command-result.ts';
import { headline, renderProblems } from '../../gateway/plan/problems.ts';
import { loadTexts } from './workspace.ts';

export const CANARY = 'canary-9f3b71';

/** YAML forms of the value. `%` stands for the canary. */
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
  // First characters of a generated secret.
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
/** Every output form of every finding. */
export async function said(policy: string, gateway: string): Promise<string> {
  const { problems } = await loadTexts(policy, gateway);
  return [
    renderProblems(problems, { colour: false }),
    ...problems.map(headline),
    JSON.stringify(problems.map(forMachines)),
    JSON.stringify(problems),
  ].join('\n');
}
