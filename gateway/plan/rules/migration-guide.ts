// migration-guide: a deprecation comes with a guide that shows how to move.
// Specification, Versioning 6; sent as Link rel="deprecation".
import { isWritten } from '../check/views.ts';
import type { Rule } from './subject.ts';

export const migrationGuide: Rule = ({ label, version, at, view }, report) => {
  const missing = version.guide === undefined && !isWritten(view, [...at, 'guide']);
  // An operation without a date of its own shares what is said of its version.
  if (!missing || version.deprecated === undefined || !isWritten(view, [...at, 'deprecated'])) return;
  report([...at, 'deprecated'], {
    rule: 'migration-guide',
    message: `${label} is deprecated without a migration guide`,
    hint: 'add guide: and its URL',
  });
};
