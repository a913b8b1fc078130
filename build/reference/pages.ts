// All generated pages of docs/reference/.
import { accessLogPages } from './access-log.ts';
import { commandPages } from './commands.ts';
import { errorPages } from './errors.ts';
import { headerPages } from './headers.ts';
import { keyPages } from './keys.ts';
import type { Page } from './markdown.ts';
import { metricPages } from './metrics.ts';
import { rulePages } from './rules.ts';

export const REFERENCE = 'docs/reference';

export function referencePages(): readonly Page[] {
  return [
    ...keyPages(),
    ...commandPages(),
    ...metricPages(),
    ...errorPages(),
    ...headerPages(),
    ...rulePages(),
    ...accessLogPages(),
  ];
}
