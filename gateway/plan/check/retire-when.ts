// Cross checks of a retirement by usage: there must be a sunset that it can judge, and something that could be held.
// Called for every version by check/versions.ts.
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { versionName, versionPath } from '../versions.ts';
import { isWritten, type PolicyView, type Report } from './views.ts';

const RULE = 'retire-when';

export function checkRetireWhen(
  label: string,
  version: VersionParts,
  view: PolicyView,
  report: Report,
): void {
  const { retire_when: rule, sunset, deprecated } = version;
  if (rule === undefined) return;
  const owner = versionPath(label);
  const at = [...owner, 'retire_when'];
  const name = versionName(label, view.parts);
  const finding = (message: string, hint: string) => report(at, { rule: RULE, message, hint, at: 'key' });
  if (sunset === undefined && !isWritten(view, [...owner, 'sunset']))
    finding(`${name} has no sunset that its usage could hold`, 'add sunset: and its date');
  else if (deprecated === undefined && !isWritten(view, [...owner, 'deprecated']))
    finding(`${name} is never deprecated, so that its calls are not counted`, 'add deprecated: and its date');
  if (rule.onExceed === 'hold' && view.parts.mode === 'observe') {
    const message = 'an API that is only observed ends nothing that could be held';
    report([...at, 'on_exceed'], { rule: RULE, severity: 'warning', message, hint: 'write warn' });
  }
}
