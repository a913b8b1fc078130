// Converts between the `replacement` path of a described operation and the successor in a policy.
import {
  formatOperation,
  OPERATION_METHODS,
  type OperationSuccessor,
  type OperationTemplate,
  sameRequests,
} from '../../policy/lifecycle/operation-template.ts';
import { type Placement, segmentsOf, serverPath, templateSegments } from './placement.ts';

export interface Replacement {
  readonly label: string;
  readonly template: OperationTemplate;
}

/** Undefined if the path matches no operation of this API. */
export function readReplacement(text: string, method: string, placement: Placement): Replacement | undefined {
  const path = text.startsWith('/') ? text : serverPath(text);
  if (!path.startsWith('/')) return undefined;
  const named = OPERATION_METHODS.find((each) => each === method);
  const versioned = versionOf(path, placement);
  if (versioned !== undefined && named !== undefined) {
    const segments = templateSegments(versioned.tail);
    return segments && { label: versioned.label, template: { method: named, segments } };
  }
  const meant = placement.place(method, path);
  if (meant.kind !== 'operation') return undefined;
  const there = placement.operations.flatMap(({ placed }) => {
    if (placed.kind !== 'operation') return [];
    const { method: other } = placed.template;
    return sameRequests({ ...meant.template, method: other }, placed.template) ? [other] : [];
  });
  const best = there.find((each) => each === meant.template.method) ?? there[0];
  return best && { label: placement.label, template: { ...meant.template, method: best } };
}

/** The value of `successor:` for an operation of `label`. `names` maps parameters to those of its template. */
export function formatSuccessor(
  { label, template }: Replacement,
  own: string,
  names: ReadonlyMap<string, string>,
): string {
  const segments = template.segments.map((each) =>
    each.kind === 'literal' ? each : { ...each, name: names.get(each.name) ?? each.name },
  );
  const name = formatOperation({ ...template, segments });
  return label === own ? name : `${label} ${name}`;
}

export function sameSuccessor(
  successor: OperationSuccessor,
  template: OperationTemplate,
  replacement: Replacement,
  own: string,
): boolean {
  if ((successor.label ?? own) !== replacement.label) return false;
  const target = successor.template ?? template;
  // A path has no method, so only paths are compared.
  return sameRequests({ ...target, method: replacement.template.method }, replacement.template);
}

/** The path of a successor. Undefined if no path expresses it. */
export function writeReplacement(
  successor: OperationSuccessor,
  template: OperationTemplate,
  { label, versionedPath, pathOf }: Placement,
): string | undefined {
  const target = successor.template ?? template;
  const to = successor.label ?? label;
  if (to === label) return pathOf(target);
  if (versionedPath === undefined) return undefined;
  const [, tail = ''] = /^\S+ (.*)$/.exec(formatOperation(target)) ?? [];
  return `${versionedPath.replace('{version}', to)}${tail === '/' ? '' : tail}`;
}

function versionOf(
  path: string,
  { versionedPath, labels }: Placement,
): { readonly label: string; readonly tail: readonly string[] } | undefined {
  if (versionedPath === undefined) return undefined;
  const form = segmentsOf(versionedPath);
  const there = segmentsOf(path);
  const label = there[form.indexOf('{version}')];
  if (label === undefined || !labels.includes(label)) return undefined;
  const fits = form.every((segment, index) => segment === '{version}' || there[index] === segment);
  return fits ? { label, tail: there.slice(form.length) } : undefined;
}
