// Warns of parameters in the style of other routers, `/:id`, which are literal segments here.

import type { Path } from '../../plan/read/document.ts';
import { formatOperation, type OperationTemplate } from '../../policy/lifecycle/operation-template.ts';
import type { Report } from '../view.ts';

/** `label`: the version before the template, if the text has one. */
export function reportColons(
  path: Path,
  template: OperationTemplate,
  report: Report,
  finding: { readonly label?: string | undefined; readonly at?: 'key' } = {},
): void {
  const braced = withBraces(template);
  if (braced === undefined) return;
  const { label, at } = finding;
  report(path, {
    rule: 'operation',
    severity: 'warning',
    message: 'a segment that begins with ":" is a literal, not a parameter',
    hint: `write ${label === undefined ? '' : `${label} `}${braced}`,
    ...(at !== undefined && { at }),
  });
}

/** With `{id}` in place of `:id`. Undefined without such a segment. */
function withBraces({ method, segments }: OperationTemplate): string | undefined {
  if (!segments.some((each) => each.kind === 'literal' && each.text.startsWith(':'))) return undefined;
  return formatOperation({
    method,
    segments: segments.map((each) => {
      const name = each.kind === 'literal' ? /^:(.*)$/.exec(each.text)?.[1] : undefined;
      return name === undefined ? each : { kind: 'parameter', name: parameterName(name) };
    }),
  });
}

function parameterName(text: string): string {
  const name = text.replace(/\W/g, '_').slice(0, 39);
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}
