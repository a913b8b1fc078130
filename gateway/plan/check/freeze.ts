// Cross checks of a freeze: there must be somebody it could refuse, an end that they are told of, and somewhere to go.
// Called for every version by check/versions.ts.
import { dayOf } from '../../policy/notation.ts';
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { effectiveSunset, redirectOf } from '../redirects.ts';
import { versionName, versionPath } from '../versions.ts';
import { isWritten, type PolicyView, type Report } from './views.ts';

const RULE = 'freeze';

export function checkFreeze(label: string, version: VersionParts, view: PolicyView, report: Report): void {
  const { freeze, deprecated, alternate } = version;
  if (freeze === undefined) return;
  const owner = versionPath(label);
  const at = [...owner, 'freeze'];
  const name = versionName(label, view.parts);
  if (view.parts.access === 'public')
    report(at, { rule: RULE, message: 'a public API knows no consumer that could be new', at: 'key' });
  if (deprecated === undefined) {
    if (!isWritten(view, [...owner, 'deprecated']))
      report(at, {
        rule: RULE,
        message: 'freeze needs deprecated: a version that is not to go has nobody to keep away',
        at: 'key',
      });
  } else if (freeze < deprecated) {
    const message = `freeze (${dayOf(freeze)}) is before deprecated (${dayOf(deprecated)})`;
    report(at, { rule: RULE, message, hint: 'nobody is refused before callers are told of the end' });
  }
  const sunset = effectiveSunset(version);
  if (sunset !== undefined && freeze >= sunset) {
    const message = `freeze (${dayOf(freeze)}) is not before the sunset (${dayOf(sunset)}): it refuses nobody`;
    report(at, { rule: RULE, message });
  }
  const leadsOn = [version.successor ?? redirectOf(version), alternate].some((each) => each !== undefined);
  if (!leadsOn && !isWritten(view, [...owner, 'successor']) && !isWritten(view, [...owner, 'alternate'])) {
    report(at, {
      rule: RULE,
      severity: 'warning',
      message: `${name} is frozen without a successor: who is refused is told nowhere to go`,
      hint: view.unversioned ? 'add alternate: and its URL' : 'add successor: and the version to move to',
      at: 'key',
    });
  }
}
