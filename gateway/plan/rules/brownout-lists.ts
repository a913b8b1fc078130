// The `brownouts` lists of a version and its operations, with the dates around their windows.
import type { EpochMs } from '../../policy/contract.ts';
import type { BrownoutRule, BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { type BrownoutSpan, expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import { earlier, effectiveSunset } from '../../sections/schedule/redirects.ts';
import { type CheckedVersion, isWritten, type PolicyView } from '../../sections/view.ts';
import type { Path } from '../read/document.ts';

export interface BrownoutList {
  readonly at: Path;
  readonly rules: readonly BrownoutRule[];
  /** The missing date, or the dates with the windows between them in order of time. */
  readonly placed:
    | { readonly kind: 'undated'; readonly missing: 'deprecated' | 'sunset' }
    /** Not expanded: with this list, the file has more than `MAX_FILE_WINDOWS` windows. */
    | { readonly kind: 'too-many' }
    | { readonly kind: 'windows'; readonly span: BrownoutSpan; readonly windows: readonly BrownoutWindow[] };
}

/** Each window costs a time zone lookup. This number keeps `check` and a reload well below a second. */
export const MAX_FILE_WINDOWS = 2_500;

/** The expanded lists of one file. Equal lists between the same dates are expanded once. */
interface ExpandedLists {
  readonly lists: Map<string, BrownoutList['placed']>;
  windows: number;
}

const expandedByView = new WeakMap<PolicyView, ExpandedLists>();

/** Lists with malformed or unordered dates are left out: these have findings of their own. */
export function brownoutListsOf({ version, at, view }: CheckedVersion): readonly BrownoutList[] {
  const { deprecated, brownouts, operations = {} } = version;
  const sunset = effectiveSunset(version);
  const written = (owner: Path) => (key: string) =>
    isWritten(view, [...at, key]) || isWritten(view, [...owner, key]);
  return [
    ...listOf(view, at, brownouts, { deprecated, sunset }, written(at)),
    ...Object.entries(operations).flatMap(([name, operation]) => {
      const owner = [...at, 'operations', name];
      const own = {
        deprecated: earlier(operation.deprecated, deprecated),
        sunset: earlier(operation.sunset, sunset),
      };
      return listOf(view, owner, operation.brownouts, own, written(owner));
    }),
  ];
}

function listOf(
  view: PolicyView,
  owner: Path,
  rules: readonly BrownoutRule[] | undefined,
  { deprecated, sunset }: { readonly deprecated: EpochMs | undefined; readonly sunset: EpochMs | undefined },
  written: (key: string) => boolean,
): readonly BrownoutList[] {
  if (rules === undefined || rules.length === 0) return [];
  const at = [...owner, 'brownouts'];
  if (deprecated === undefined || sunset === undefined) {
    const missing = deprecated === undefined ? 'deprecated' : 'sunset';
    return written(missing) ? [] : [{ at, rules, placed: { kind: 'undated', missing } }];
  }
  if (sunset <= deprecated) return [];
  const span = { deprecated, sunset };
  const placed = expandList(view, rules, span);
  return placed === undefined ? [] : [{ at, rules, placed }];
}

/** The first list above the limit is `too-many`. Lists after it are left out. */
function expandList(
  view: PolicyView,
  rules: readonly BrownoutRule[],
  span: BrownoutSpan,
): BrownoutList['placed'] | undefined {
  const file = expandedByView.getOrInsertComputed(view, () => ({ lists: new Map(), windows: 0 }));
  const key = JSON.stringify([span, rules]);
  const known = file.lists.get(key);
  if (known !== undefined || file.windows > MAX_FILE_WINDOWS) return known;
  const windows = expandBrownouts(rules, span);
  file.windows += windows.length;
  const placed: BrownoutList['placed'] =
    file.windows > MAX_FILE_WINDOWS ? { kind: 'too-many' } : { kind: 'windows', span, windows };
  file.lists.set(key, placed);
  return placed;
}

/** In UTC, with seconds only if they are not zero. */
export function formatInstant(instant: EpochMs): string {
  return Temporal.Instant.fromEpochMilliseconds(instant).toString().replace(/:00Z$/, 'Z');
}
