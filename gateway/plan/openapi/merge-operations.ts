// Merges the described operations of a version into the policy (OAS-1, OAS-2).
import {
  type OperationTemplate,
  parametersOf,
  parseOperation,
  parseOperationSuccessor,
  sameRequests,
  spellOperation,
  takesRequestsOf,
} from '../../policy/lifecycle/operation-template.ts';
import type { Path } from '../read/document.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { DescribedOperation } from './description.ts';
import { findPair, type Said, type SaidDay } from './description-text.ts';
import { disagree, firstDay, isDisordered, isOff, type Merging, mergeDay, policyText } from './merging.ts';
import { type Replacement, readReplacement, sameSuccessor, spellSuccessor } from './replacement.ts';

export interface Named {
  /** As in the policy, or as it would be there. */
  readonly name: string;
  readonly template: OperationTemplate;
}

interface Taken extends Named {
  readonly said: DescribedOperation;
}

export function policyOperations({ document, at }: Merging): readonly Named[] {
  const written = valueAt(document.value, [...at, 'operations']);
  return keysOf(written).flatMap((name): readonly Named[] => {
    const parsed = parseOperation(name);
    return parsed.kind === 'operation' ? [{ name, template: parsed.template }] : [];
  });
}

export function mergeOperations(merging: Merging): void {
  const { placement } = merging;
  const policy = policyOperations(merging);
  const described: Taken[] = [];
  const names = new Set<string>();
  for (const { said, placed } of placement.operations) {
    checkStatus(said, merging);
    if (placed.kind === 'operation') {
      // Paths with and without a trailing slash are one operation.
      if (!names.has(placed.name)) described.push({ name: placed.name, template: placed.template, said });
      names.add(placed.name);
    } else if (placed.kind === 'inexpressible' && saysAnything(said))
      merging.atDescription(said.mark, {
        rule: 'description-usable',
        message: `what it says of ${said.method} ${said.path} is not used: ${placed.why}`,
      });
  }
  const taken = described.filter((each) => mergeOperation(each, policy, merging));
  for (const each of described) shield(each, { policy, taken }, merging);
  for (const each of policy) checkDescribed(each, described, merging);
}

/** Returns true if it added an operation to the policy. */
function mergeOperation(each: Taken, policy: readonly Named[], merging: Merging): boolean {
  const { said, name, template } = each;
  const { description, atDescription } = merging;
  const entry = policy.find((other) => sameRequests(other.template, template));
  const path: Path = [...merging.at, 'operations', entry?.name ?? name];
  const ordered = [
    isDisordered(merging, 'introduced', said.introduced, 'deprecation-date', said.deprecated),
    isDisordered(merging, 'deprecation-date', said.deprecated, 'sunset-date', said.sunset),
  ].every((disordered) => !disordered);
  // A date that repeats that of the API belongs to the version, which the policy may extend.
  const own = (date: SaidDay, ofApi: SaidDay) =>
    isDay(date) && ordered && date.value !== ofApi?.value ? date : undefined;
  const deprecated = own(said.deprecated, description.api.announced);
  const sunset = own(said.sunset, description.api.sunset);
  const wider = policy.find((other) => takesRequestsOf(template, other.template));
  const isNew = entry === undefined && (deprecated ?? sunset ?? said.replacement) !== undefined;
  if (isNew && wider !== undefined) {
    atDescription(said.mark, {
      rule: 'description-agrees',
      message: `what it says of ${name} is not used: the policy has ${wider.name} for the same requests`,
      hint: `write ${name} in the policy too`,
    });
    return false;
  }
  if (isNew) merging.borrow(path, { value: {}, mark: said.mark });
  const merge = (key: string, what: string, date: SaidDay, day: Said<string> | undefined) => {
    const at: Path = [...path, key];
    const said = date?.value === null ? date : day;
    mergeDay(merging, what, said, firstDay(merging, [at]), merging.document.has(at) ? undefined : at);
  };
  merge('deprecated', 'deprecation-date', said.deprecated, deprecated);
  merge('sunset', 'sunset-date', said.sunset, sunset);
  mergeReplacement(each, entry ?? each, path, merging);
  if (deprecated === undefined && sunset === undefined) checkUndated(each, path, merging);
  return isNew;
}

function isDay(said: SaidDay): said is Said<string> {
  return typeof said?.value === 'string';
}

/** OAS-1: without a status there is nothing to compare. The default of `deprecated` is false. */
function checkStatus({ status, flag }: DescribedOperation, { atDescription }: Merging): void {
  if (status === undefined || (status.value === 'deprecated') === (flag?.value ?? false)) return;
  const isFlagged = flag?.value === true;
  atDescription(status.mark, {
    rule: 'description-status',
    message: `status is ${status.value}, and the operation is ${isFlagged ? '' : 'not '}marked deprecated: true`,
    hint: isFlagged ? 'write status: deprecated' : 'write deprecated: true beside x-lifecycle',
  });
}

function checkUndated({ said, name }: Taken, path: Path, merging: Merging): void {
  const { document, description, at } = merging;
  const marked =
    said.flag?.value === true ? said.flag : said.status?.value === 'deprecated' ? said.status : undefined;
  const isDated = document.has([...at, 'deprecated']) && !isOff(merging, [...at, 'deprecated']);
  if (marked === undefined || document.has([...path, 'deprecated']) || isDated) return;
  if (typeof description.api.announced?.value === 'string') return;
  const lifecycle = description.source.at(said.node, 'x-lifecycle');
  // A malformed date has a finding of its own.
  if (findPair(lifecycle, 'deprecation-date') !== undefined) return;
  merging.atDescription(marked.mark, {
    rule: 'description-undated',
    message: `${name} is deprecated, and nothing says since when: no answer carries Deprecation`,
    hint: 'add x-lifecycle: { deprecation-date } here, or deprecated to the policy',
  });
}

/** A literal path is another operation than the parameter that also matches it. */
function shield(
  { name, template, said }: Taken,
  { policy, taken }: { readonly policy: readonly Named[]; readonly taken: readonly Named[] },
  merging: Merging,
): void {
  if ([...policy, ...taken].some((other) => sameRequests(other.template, template))) return;
  if (policy.some((other) => takesRequestsOf(template, other.template))) return;
  if (!taken.some((other) => takesRequestsOf(template, other.template))) return;
  merging.borrow([...merging.at, 'operations', name], { value: {}, mark: said.mark });
}

function checkDescribed({ name, template }: Named, described: readonly Named[], merging: Merging): void {
  const isDescribed = described.some((other) => {
    const anyMethod =
      template.method === '*' || (template.method === 'HEAD' && other.template.method === 'GET');
    return sameRequests(
      anyMethod ? { ...template, method: other.template.method } : template,
      other.template,
    );
  });
  if (isDescribed) return;
  merging.atPolicy([...merging.at, 'operations', name], {
    rule: 'description-agrees',
    message: `${spellOperation(template)} is not in the description`,
    hint: merging.description.source.file,
    at: 'key',
  });
}

function saysAnything({ flag, status, deprecated, sunset }: DescribedOperation): boolean {
  return flag?.value === true || status?.value === 'deprecated' || isDay(deprecated) || isDay(sunset);
}

/** `path`: of the operation in the policy. `entry`: as written there. */
function mergeReplacement(
  { said, template }: Taken,
  entry: { readonly template: OperationTemplate },
  path: Path,
  merging: Merging,
): void {
  const { replacement } = said;
  if (replacement === undefined) return;
  const { document, placement } = merging;
  const { label } = placement;
  const place: Path = [...path, 'successor'];
  const meant = readReplacement(replacement.value, said.method, merging.placement);
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
