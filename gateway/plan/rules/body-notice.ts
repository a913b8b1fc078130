// body-notice: what asks for a notice in bodies is deprecated on some day, since before that nothing is added.
// A flag without a date is a date forgotten, or a flag left over.
import { isWritten } from '../check/views.ts';
import type { Rule } from './subject.ts';

export const bodyNotice: Rule = ({ label, version, at, view }, report) => {
  const isDeprecated = isWritten(view, [...at, 'deprecated']);
  const operations = Object.entries(version.operations ?? {});
  const finding = (subject: string) => ({
    rule: 'body-notice',
    message: `${subject} is never deprecated, so that its answers never carry the notice`,
    hint: 'add deprecated: and its date, or remove this line',
  });
  const someOperation = operations.some(
    ([name, { body_notice: own }]) =>
      own !== false && isWritten(view, [...at, 'operations', name, 'deprecated']),
  );
  if (version.body_notice === true && !isDeprecated && !someOperation) {
    report([...at, 'body_notice'], finding(label));
  }
  for (const [name, operation] of operations) {
    const there = [...at, 'operations', name];
    if (operation.body_notice === true && !isDeprecated && !isWritten(view, [...there, 'deprecated'])) {
      report([...there, 'body_notice'], finding(`${label} ${name}`));
    }
  }
};
