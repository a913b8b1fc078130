// Where the callers of one operation go instead, as its description says it: the successor where the policy has none.
// Part of the merge of an operation; replacement.ts reads the path.
import {
  type OperationTemplate,
  parametersOf,
  parseOperationSuccessor,
  sameRequests,
} from '../../policy/lifecycle/operation-template.ts';
import type { Path } from '../read/document.ts';
import type { DescribedOperation } from './description.ts';
import { disagree, type Merging, policyText } from './merging.ts';
import { type Replacement, readReplacement, sameSuccessor, spellSuccessor } from './replacement.ts';

interface Placed {
  readonly template: OperationTemplate;
  readonly said: DescribedOperation;
}

/** `path` is that of the operation in the policy, `entry` as it is written there. */
export function mergeReplacement(
  { said, template }: Placed,
  entry: { readonly template: OperationTemplate },
  path: Path,
  merging: Merging,
): void {
  const { replacement } = said;
  if (replacement === undefined) return;
  const { label, document } = merging;
  const place: Path = [...path, 'successor'];
  const meant = readReplacement(replacement.value, said.method, merging);
  const own = parametersOf(entry.template);
  const names = new Map(parametersOf(template).map((name, index) => [name, own[index] ?? name]));
  const unusable = whyUnusable(meant, template, label, names);
  if (meant === undefined || unusable !== undefined) {
    const message = `the replacement ${replacement.value} is not linked to: ${unusable}`;
    merging.atDescription(replacement.mark, { rule: 'description-usable', message });
  } else if (!document.has(place)) {
    merging.borrow(place, { value: spellSuccessor(meant, label, names), mark: replacement.mark });
  } else {
    const text = policyText(merging, place);
    const successor = text === undefined ? undefined : parseOperationSuccessor(text);
    if (successor !== undefined && !sameSuccessor(successor, template, meant, label))
      disagree(merging, place, 'replacement', replacement);
  }
}

function whyUnusable(
  meant: Replacement | undefined,
  template: OperationTemplate,
  label: string,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (meant === undefined) return 'it is no operation of this API';
  if (meant.label === label && sameRequests(meant.template, template)) return 'it is the operation itself';
  const missing = parametersOf(meant.template).find((name) => !names.has(name));
  return missing === undefined ? undefined : `the operation has no {${missing}} to fill in`;
}
