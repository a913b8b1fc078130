// Rules about the successors of operations: successor-circle and operation-successor.
import {
  formatOperation,
  type OperationTemplate,
  parseOperation,
} from '../../policy/lifecycle/operation-template.ts';
import { dayOf } from '../../policy/notation.ts';
import { decodedOctets } from '../../policy/octets.ts';
import { literalReading } from '../../policy/paths/rules.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import type { OperationFile, VersionParts } from '../../sections/policy-file.ts';
import { RULES } from '../../sections/rules/grammar.ts';
import { orLater } from '../../sections/schedule/calendar.ts';
import { effectiveSunset, redirectOf, successorOf } from '../../sections/schedule/redirects.ts';
import type { PolicyView, VersionCheck } from '../../sections/view.ts';
import { createOperationTable, type OperationTable } from '../routes/operation-table.ts';

/** A request in the form of an operation template, and its version. */
interface OperationRef {
  readonly label: string;
  readonly template: OperationTemplate;
}

interface WrittenOperation {
  /** As written, for a path into the file. */
  readonly key: string;
  readonly name: string;
  readonly template: OperationTemplate;
  readonly rules: OperationFile;
}

type Operations = NonNullable<VersionParts['operations']>;

const tables = new WeakMap<Operations, OperationTable<WrittenOperation>>();

/** Redirects leave a cycle (RET-4), but each successor link of the cycle is wrong. */
export const operationCycle: VersionCheck = ({ label, version, at, view }, report) => {
  for (const [name, { successor }] of Object.entries(version.operations ?? {})) {
    const parsed = parseOperation(name);
    if (successor === undefined || parsed.kind === 'malformed') continue;
    const start = { label, template: parsed.template };
    const cycle = cycleFrom(start, view);
    // The check of operations reports an operation that is its own successor.
    if (cycle === undefined || cycle.length < 2) continue;
    const others = cycle.slice(1).filter((each) => hasOwnSuccessor(each, view));
    if (others.some((each) => comesAfter(each, start, view))) continue;
    const way = [...cycle, start].map((each) => formatReference(each, label));
    report([...at, 'operations', name, 'successor'], {
      rule: 'successor-circle',
      message: `successors form a cycle: ${way.join(' -> ')}`,
      hint: 'name an operation outside the cycle, or remove the successor',
    });
  }
};

/** RET-4: the successor of an operation ends later than the operation. */
export const operationSuccessor: VersionCheck = ({ label, version, at, view }, report) => {
  for (const [name, operation] of Object.entries(version.operations ?? {})) {
    const { successor } = operation;
    const parsed = parseOperation(name);
    if (successor === undefined || parsed.kind === 'malformed') continue;
    const to = successor.label ?? label;
    const { operations } = to === label ? version : (view.versions.get(to) ?? {});
    const requested = successor.template ?? parsed.template;
    const there = operationFor(operations, requested);
    if (to === label && (there?.name ?? formatOperation(requested)) === formatOperation(parsed.template))
      continue;
    const ofVersion = effectiveSunset(version);
    const ends = operation.sunset ?? ofVersion;
    const redirected = isRedirected(operation, version, to);
    // An operation ends with its version at the latest. Rule `redirect` reports other versions that have ended.
    const thereEnds = there?.rules.sunset ?? (to === label && redirected ? ofVersion : undefined);
    if (thereEnds === undefined || ends === undefined || thereEnds > ends) continue;
    const target = there?.name ?? formatOperation(requested);
    const withAll = thereEnds === ofVersion && ends === ofVersion;
    report([...at, 'operations', name, 'successor'], {
      rule: 'operation-successor',
      ...(redirected && { severity: RULES['operation-successor'].exception.severity }),
      message: `${name} ends on ${dayOf(ends)}, and ${to === label ? '' : `${to} `}${target} has ended by then`,
      hint:
        withAll && to === label
          ? `both end with ${label}: write an earlier sunset of ${name}, or a successor in another version`
          : orLater(`sunset of ${target}`, ends + 1, `remove the sunset of ${target}`),
    });
  }
};

/** The requests on the cycle from `start` back to itself. Undefined if there is none. */
function cycleFrom(start: OperationRef, view: PolicyView): readonly OperationRef[] | undefined {
  const passed = [start];
  const seen = new Set([keyOf(start)]);
  for (let at = successorRef(start, view); at !== undefined; at = successorRef(at, view)) {
    if (keyOf(at) === keyOf(start)) return passed;
    if (seen.has(keyOf(at))) return undefined;
    seen.add(keyOf(at));
    passed.push(at);
  }
  return undefined;
}

/** An operation without a successor has the successor of its version. */
function successorRef({ label, template }: OperationRef, { versions }: PolicyView): OperationRef | undefined {
  const version = versions.get(label);
  const own = operationFor(version?.operations, template)?.rules.successor;
  if (own !== undefined) return { label: own.label ?? label, template: own.template ?? template };
  const to = successorOf(version);
  return to === undefined ? undefined : { label: to, template };
}

/** Whether the request has a successor line of its own that can be reported. */
function hasOwnSuccessor(requested: OperationRef, { versions }: PolicyView): boolean {
  const there = operationFor(versions.get(requested.label)?.operations, requested.template);
  return there?.rules.successor !== undefined && tailOf(there.template) === tailOf(requested.template);
}

/** Each cycle is reported once, for the last operation of the newest version. */
function comesAfter(other: OperationRef, start: OperationRef, { versions }: PolicyView): boolean {
  if (other.label !== start.label) return compareLabels(other.label, start.label) > 0;
  const keys = Object.keys(versions.get(start.label)?.operations ?? {});
  const placeOf = ({ template }: OperationRef) =>
    keys.indexOf(operationFor(versions.get(start.label)?.operations, template)?.key ?? '');
  return placeOf(other) > placeOf(start);
}

function keyOf({ label, template }: OperationRef): string {
  return `${label} ${template.method} ${tailOf(template)}`;
}

function formatReference({ label, template }: OperationRef, here: string): string {
  return `${label === here ? '' : `${label} `}${formatOperation(template)}`;
}

/** An operation without a sunset redirects with its version, if both name the same successor (LNK-2). */
function isRedirected({ after, sunset }: OperationFile, version: VersionParts, to: string): boolean {
  return after === 'redirect' || (after === undefined && sunset === undefined && redirectOf(version) === to);
}

/** If two operations have the same requests, the first: another finding reports the second. */
function operationFor(
  operations: Operations | undefined,
  template: OperationTemplate,
): WrittenOperation | undefined {
  if (operations === undefined) return undefined;
  const table = tables.getOrInsertComputed(operations, tableOf);
  return table.match(template.method, tailOf(template))?.rules;
}

function tableOf(operations: Operations): OperationTable<WrittenOperation> {
  const rows = new Map<string, { readonly template: OperationTemplate; readonly rules: WrittenOperation }>();
  for (const [key, rules] of Object.entries(operations)) {
    const parsed = parseOperation(key);
    if (parsed.kind === 'malformed') continue;
    const { template } = parsed;
    const names = literalReading(tailOf(template)).segments.map(decodedOctets);
    const requests = JSON.stringify([template.method, ...names]);
    const written = { key, name: formatOperation(template), template, rules };
    if (!rows.has(requests)) rows.set(requests, { template, rules: written });
  }
  return createOperationTable([...rows.values()]);
}

/** No literal of a path is `{}`, so parameters match parameters only. */
function tailOf({ segments }: OperationTemplate): string {
  return segments.map((segment) => (segment.kind === 'literal' ? segment.text : '{}')).join('/');
}
