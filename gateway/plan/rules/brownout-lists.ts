// Every `brownouts` list of a version, its operations' included, with the dates its windows must lie between.
// For the rules about brownouts; both see the windows that the plan will have.
import type { EpochMs } from '../../policy/contract.ts';
import type { BrownoutRule, BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { type BrownoutSpan, expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import type { Path } from '../document.ts';
import { effectiveSunset } from '../redirects.ts';
import { isWritten } from '../views.ts';
import type { Subject } from './subject.ts';

export interface BrownoutList {
  /** Path of the list. */
  readonly at: Path;
  readonly rules: readonly BrownoutRule[];
  /** The date that is missing, or the dates and the windows between them, by time. */
  readonly placed:
    | { readonly kind: 'nowhere'; readonly missing: 'deprecated' | 'sunset' }
    | { readonly kind: 'windows'; readonly span: BrownoutSpan; readonly windows: readonly BrownoutWindow[] };
}

/** Lists whose dates are malformed or out of order are left out: that has been said. */
export function brownoutListsOf({ version, at, view }: Subject): readonly BrownoutList[] {
  const { deprecated, brownouts, operations = {} } = version;
  const sunset = effectiveSunset(version);
  const written = (owner: Path) => (key: string) =>
    isWritten(view, [...at, key]) || isWritten(view, [...owner, key]);
  return [
    ...listOf(at, brownouts, { deprecated, sunset }, written(at)),
    ...Object.entries(operations).flatMap(([name, operation]) => {
      const owner = [...at, 'operations', name];
      const own = {
        deprecated: earlier(operation.deprecated, deprecated),
        sunset: earlier(operation.sunset, sunset),
      };
      return listOf(owner, operation.brownouts, own, written(owner));
    }),
  ];
}

function listOf(
  owner: Path,
  rules: readonly BrownoutRule[] | undefined,
  { deprecated, sunset }: { readonly deprecated: EpochMs | undefined; readonly sunset: EpochMs | undefined },
  written: (key: string) => boolean,
): readonly BrownoutList[] {
  if (rules === undefined) return [];
  const at = [...owner, 'brownouts'];
  if (deprecated === undefined || sunset === undefined) {
    const missing = deprecated === undefined ? 'deprecated' : 'sunset';
    return written(missing) ? [] : [{ at, rules, placed: { kind: 'nowhere', missing } }];
  }
  if (sunset <= deprecated) return [];
  const span = { deprecated, sunset };
  return [{ at, rules, placed: { kind: 'windows', span, windows: expandBrownouts(rules, span) } }];
}

/** An operation may begin and end earlier than its version, not later. */
function earlier(own: EpochMs | undefined, ofVersion: EpochMs | undefined): EpochMs | undefined {
  if (own === undefined || ofVersion === undefined) return own ?? ofVersion;
  return Math.min(own, ofVersion);
}

/** An instant in UTC, seconds only where there are any. */
export function spellInstant(instant: EpochMs): string {
  return Temporal.Instant.fromEpochMilliseconds(instant).toString().replace(/:00Z$/, 'Z');
}
