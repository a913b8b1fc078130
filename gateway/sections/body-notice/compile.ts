// Whether answers of a version or an operation carry a notice in their body.
import type { VersionRules } from '../../plan/plan.ts';
import type { OperationInput, VersionInput } from '../section.ts';

type Compiled = Pick<VersionRules, 'bodyNotice'>;

export function bodyNoticeOfVersion({ version }: VersionInput): Compiled {
  return { bodyNotice: version.body_notice ?? false };
}

export function bodyNoticeOfOperation({ operation, rules }: OperationInput): Compiled {
  return { bodyNotice: operation.body_notice ?? rules.bodyNotice };
}
