// A name in a policy file that nothing bears, with what it may have meant.
import type { Path } from '../plan/read/document.ts';
import { suggestOrList } from '../plan/read/shape-issues.ts';
import type { PolicyView, Report } from './view.ts';

/** `hintOfNone`: what to write where nothing is `known`. Shown as an operator may see it: what interpolation brought in is not quoted, and no hint hints at it. */
export function reportDangling(
  path: Path,
  noun: string,
  name: string,
  known: readonly string[],
  view: Pick<PolicyView, 'document'>,
  report: Report,
  hintOfNone?: string,
): void {
  const shown = view.document.show(path, name);
  const hint = view.document.isSecret(path)
    ? undefined
    : (suggestOrList(name, known) ?? (known.length === 0 ? hintOfNone : undefined));
  report(path, { rule: 'reference', message: `no ${noun} is called ${shown}`, hint });
}
