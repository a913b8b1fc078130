// Merges the described operations of a version into the policy (OAS-1, OAS-2).
import {
  formatOperation,
  type OperationTemplate,
  parametersOf,
  parseOperation,
  parseOperationSuccessor,
  sameRequests,
  takesRequestsOf,
} from '../../policy/lifecycle/operation-template.ts';
import type { Path } from '../read/document.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { DescribedOperation } from './description.ts';
import { findPair, type Located, type LocatedDay } from './description-text.ts';
import {
  disagree,
  firstDay,
  isDisordered,
  isOff,
  type MergeInput,
  mergeDay,
  policyText,
} from './merge-input.ts';
import { formatSuccessor, type Replacement, readReplacement, sameSuccessor } from './replacement.ts';

export interface Operation {
  /** The operation as the policy writes it, or would write it. */
  readonly name: string;
  readonly template: OperationTemplate;
}

interface MappedOperation extends Operation {
  readonly stated: DescribedOperation;
}

export function policyOperations({ document, at }: MergeInput): readonly Operation[] {
  const written = valueAt(document.value, [...at, 'operations']);
  return keysOf(written).flatMap((name): readonly Operation[] => {
    const parsed = parseOperation(name);
    return parsed.kind === 'operation' ? [{ name, template: parsed.template }] : [];
  });
}

export function mergeOperations(input: MergeInput): void {
  const { placement } = input;
  const policy = policyOperations(input);
  const described: MappedOperation[] = [];
  const names = new Set<string>();
  for (const { stated, placed } of placement.operations) {
    checkStatus(stated, input);
    if (placed.kind === 'operation') {
      // Paths with and without a trailing slash are one operation.
      if (!names.has(placed.name)) described.push({ name: placed.name, template: placed.template, stated });
      names.add(placed.name);
    } else if (placed.kind === 'inexpressible' && hasLifecycle(stated))
      input.atDescription(stated.mark, {
        rule: 'description-usable',
        message: `the description of ${stated.method} ${stated.path} is not used: ${placed.why}`,
      });
  }
  const taken = described.filter((each) => mergeOperation(each, policy, input));
  for (const each of described) keepSeparate(each, { policy, taken }, input);
  for (const each of policy) checkDescribed(each, described, input);
}

/** Adds or compares the dates and the successor of an operation. Returns true if it added the operation. */
function mergeOperation(each: MappedOperation, policy: readonly Operation[], input: MergeInput): boolean {
  const { stated, name, template } = each;
  const { description, atDescription } = input;
  const entry = policy.find((other) => sameRequests(other.template, template));
  const path: Path = [...input.at, 'operations', entry?.name ?? name];
  const ordered = [
    isDisordered(input, 'introduced', stated.introduced, 'deprecation-date', stated.deprecated),
    isDisordered(input, 'deprecation-date', stated.deprecated, 'sunset-date', stated.sunset),
  ].every((disordered) => !disordered);
  // A date that repeats that of the API belongs to the version, which the policy may extend.
  const own = (date: LocatedDay, ofApi: LocatedDay) =>
    isDay(date) && ordered && date.value !== ofApi?.value ? date : undefined;
  const deprecated = own(stated.deprecated, description.api.announced);
  const sunset = own(stated.sunset, description.api.sunset);
  const wider = policy.find((other) => takesRequestsOf(template, other.template));
  const isNew = entry === undefined && (deprecated ?? sunset ?? stated.replacement) !== undefined;
  if (isNew && wider !== undefined) {
    atDescription(stated.mark, {
      rule: 'description-agrees',
      message: `the description of ${name} is not used: the policy has ${wider.name} for the same requests`,
      hint: `write ${name} in the policy too`,
    });
    return false;
  }
  if (isNew) input.add(path, { value: {}, mark: stated.mark });
  const merge = (key: string, what: string, date: LocatedDay, day: Located<string> | undefined) => {
    const at: Path = [...path, key];
    const stated = date?.value === null ? date : day;
    mergeDay(input, what, stated, firstDay(input, [at]), input.document.has(at) ? undefined : at);
  };
  merge('deprecated', 'deprecation-date', stated.deprecated, deprecated);
  merge('sunset', 'sunset-date', stated.sunset, sunset);
  mergeReplacement(each, entry ?? each, path, input);
  if (deprecated === undefined && sunset === undefined) checkUndated(each, path, input);
  return isNew;
}

function isDay(stated: LocatedDay): stated is Located<string> {
  return typeof stated?.value === 'string';
}

/** OAS-1: without a status there is nothing to compare. The default of `deprecated` is false. */
function checkStatus({ status, flag }: DescribedOperation, { atDescription }: MergeInput): void {
  if (status === undefined || (status.value === 'deprecated') === (flag?.value ?? false)) return;
  const isFlagged = flag?.value === true;
  atDescription(status.mark, {
    rule: 'description-status',
    message: `status is ${status.value}, and the operation is ${isFlagged ? '' : 'not '}marked deprecated: true`,
    hint: isFlagged ? 'write status: deprecated' : 'write deprecated: true beside x-lifecycle',
  });
}

function checkUndated({ stated, name }: MappedOperation, path: Path, input: MergeInput): void {
  const { document, description, at } = input;
  const marked =
    stated.flag?.value === true
      ? stated.flag
      : stated.status?.value === 'deprecated'
        ? stated.status
        : undefined;
  const isDated = document.has([...at, 'deprecated']) && !isOff(input, [...at, 'deprecated']);
  if (marked === undefined || document.has([...path, 'deprecated']) || isDated) return;
  if (typeof description.api.announced?.value === 'string') return;
  const lifecycle = description.source.at(stated.node, 'x-lifecycle');
  // A malformed date has a finding of its own.
  if (findPair(lifecycle, 'deprecation-date') !== undefined) return;
  input.atDescription(marked.mark, {
    rule: 'description-undated',
    message: `${name} is deprecated without a date, so no response has a Deprecation header`,
    hint: 'add x-lifecycle: { deprecation-date } here, or deprecated to the policy',
  });
}

/** Adds an operation for a literal path, so that the rules of an added parameter do not apply to it. */
function keepSeparate(
  { name, template, stated }: MappedOperation,
  { policy, taken }: { readonly policy: readonly Operation[]; readonly taken: readonly Operation[] },
  input: MergeInput,
): void {
  if ([...policy, ...taken].some((other) => sameRequests(other.template, template))) return;
  if (policy.some((other) => takesRequestsOf(template, other.template))) return;
  if (!taken.some((other) => takesRequestsOf(template, other.template))) return;
  input.add([...input.at, 'operations', name], { value: {}, mark: stated.mark });
}

function checkDescribed(
  { name, template }: Operation,
  described: readonly Operation[],
  input: MergeInput,
): void {
  const isDescribed = described.some((other) => {
    const anyMethod =
      template.method === '*' || (template.method === 'HEAD' && other.template.method === 'GET');
    return sameRequests(
      anyMethod ? { ...template, method: other.template.method } : template,
      other.template,
    );
  });
  if (isDescribed) return;
  input.atPolicy([...input.at, 'operations', name], {
    rule: 'description-agrees',
    message: `${formatOperation(template)} is not in the description`,
    hint: input.description.source.file,
    at: 'key',
  });
}

function hasLifecycle({ flag, status, deprecated, sunset }: DescribedOperation): boolean {
  return flag?.value === true || status?.value === 'deprecated' || isDay(deprecated) || isDay(sunset);
}

/** `path`: of the operation in the policy. `entry`: as written there. */
function mergeReplacement(
  { stated, template }: MappedOperation,
  entry: { readonly template: OperationTemplate },
  path: Path,
  input: MergeInput,
): void {
  const { replacement } = stated;
  if (replacement === undefined) return;
  const { document, placement } = input;
  const { label } = placement;
  const place: Path = [...path, 'successor'];
  const meant = readReplacement(replacement.value, stated.method, input.placement);
  const own = parametersOf(entry.template);
  const names = new Map(parametersOf(template).map((name, index) => [name, own[index] ?? name]));
  const unusable = whyUnusable(meant, template, label, names);
  if (meant === undefined || unusable !== undefined) {
    const message = `the replacement ${replacement.value} is not used as successor: ${unusable}`;
    input.atDescription(replacement.mark, { rule: 'description-usable', message });
  } else if (!document.has(place)) {
    input.add(place, { value: formatSuccessor(meant, label, names), mark: replacement.mark });
  } else {
    const text = policyText(input, place);
    const successor = text === undefined ? undefined : parseOperationSuccessor(text);
    if (successor !== undefined && !sameSuccessor(successor, template, meant, label))
      disagree(input, place, 'replacement', replacement);
  }
}

function whyUnusable(
  meant: Replacement | undefined,
  template: OperationTemplate,
  label: string,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (meant === undefined) return 'it is not an operation of this API';
  if (meant.label === label && sameRequests(meant.template, template)) return 'it is the operation itself';
  const missing = parametersOf(meant.template).find((name) => !names.has(name));
  return missing === undefined ? undefined : `the path of the operation has no {${missing}}`;
}
