// Checks operations: names, overlaps, dates, successors and access.

import { suggest } from '../../plan/read/shape-issues.ts';
import type { EpochMs } from '../../policy/contract.ts';
import {
  formatOperation,
  OPERATION_METHODS,
  type OperationTemplate,
  parametersOf,
  parseOperation,
  sameName,
  sameRequests,
} from '../../policy/lifecycle/operation-template.ts';
import { dayOf } from '../../policy/notation.ts';
import type { OperationFile, PolicyParts, VersionParts } from '../policy-file.ts';
import { pathsOf } from '../routes/compile.ts';
import { effectiveSunset } from '../schedule/redirects.ts';
import { type CheckContext, isWritten, type PolicyView, type Report, reportUnknownName } from '../view.ts';
import { reportColons } from './colons.ts';

interface CheckedOperation {
  readonly label: string;
  readonly version: VersionParts;
  /** As in the policy file. */
  readonly name: string;
  readonly template: OperationTemplate;
  readonly operation: OperationFile;
}

export function checkOperations(view: PolicyView, _context: CheckContext, report: Report): void {
  for (const [label, version] of view.versions) checkOperationsOf(label, version, view, report);
}

function checkOperationsOf(label: string, version: VersionParts, view: PolicyView, report: Report): void {
  const before: OperationTemplate[] = [];
  for (const [name, operation] of Object.entries(version.operations ?? {})) {
    const path = ['versions', label, 'operations', name];
    const parsed = parseOperation(name);
    if (parsed.kind === 'malformed') {
      const hint =
        parsed.method === undefined ? nearOperation(name) : `write one of ${OPERATION_METHODS.join(', ')}`;
      report(path, { rule: 'operation', message: parsed.why, hint, at: 'key' });
      continue;
    }
    const { template } = parsed;
    for (const other of before) reportOverlap(path, template, other, report);
    before.push(template);
    const below = belowBase(name, label, view.parts);
    if (below !== undefined) {
      const message = 'operation paths are relative to the base, so no request matches this operation';
      report(path, { rule: 'operation', severity: 'warning', message, hint: `write ${below}`, at: 'key' });
    }
    reportColons(path, template, report, { at: 'key' });
    const subject = { label, version, name, template, operation };
    checkDates(subject, view, report);
    checkSuccessor(subject, view, report);
    if (typeof operation.access === 'object' && (version.access ?? view.parts.access) === 'public') {
      const message = `a public ${version.access === undefined ? 'API' : 'version'} verifies no tokens, so scopes have no effect`;
      report([...path, 'access'], { rule: 'operation', message, at: 'key' });
    }
  }
}

function reportOverlap(
  path: readonly string[],
  template: OperationTemplate,
  other: OperationTemplate,
  report: Report,
): void {
  if (sameRequests(template, other)) {
    report(path, {
      rule: 'operation',
      message: `${formatOperation(other)} matches the same requests`,
      at: 'key',
    });
  } else if (template.method === other.method && crosses(template, other)) {
    const message = `some requests also match ${formatOperation(other)}: the operation with the earlier literal segment applies`;
    report(path, { rule: 'operation', severity: 'warning', message, at: 'key' });
  }
}

/** Whether two templates share requests although neither is a special case of the other. */
function crosses(a: OperationTemplate, b: OperationTemplate): boolean {
  if (a.segments.length !== b.segments.length) return false;
  let moreLiteral = 0;
  let lessLiteral = 0;
  for (const [index, left] of a.segments.entries()) {
    const right = b.segments[index];
    if (right === undefined || left.kind === right.kind) {
      if (left.kind === 'literal' && right?.kind === 'literal' && !sameName(left.text, right.text))
        return false;
    } else if (left.kind === 'literal') moreLiteral += 1;
    else lessLiteral += 1;
  }
  return moreLiteral > 0 && lessLiteral > 0;
}

/** DEP-5. An operation never outlives its version. */
function checkDates(
  { label, version, name, operation }: CheckedOperation,
  view: PolicyView,
  report: Report,
): void {
  const at = (key: string) => ['versions', label, 'operations', name, key];
  const wrong = (key: string, message: string) => report(at(key), { rule: 'date-order', message });
  const { deprecated, sunset } = operation;
  const before = (key: string, value: EpochMs | undefined, than: string, earlier: EpochMs | undefined) => {
    if (value !== undefined && earlier !== undefined && value < earlier)
      wrong(key, `${key} (${dayOf(value)}) is before ${than} (${dayOf(earlier)})`);
  };
  const after = (key: string, value: EpochMs | undefined, than: string, later: EpochMs | undefined) => {
    if (value !== undefined && later !== undefined && value > later)
      wrong(key, `${key} (${dayOf(value)}) is after that of ${than} (${dayOf(later)})`);
  };
  before('deprecated', deprecated, `${label} is released`, version.released);
  before('sunset', sunset, 'deprecated', deprecated);
  if (deprecated === undefined) before('sunset', sunset, `${label} is deprecated`, version.deprecated);
  after('deprecated', deprecated, label, version.deprecated);
  after('sunset', sunset, label, effectiveSunset(version));
  const announced = deprecated ?? version.deprecated;
  if (sunset !== undefined && announced === undefined && !isWritten(view, at('deprecated'))) {
    const message =
      'a sunset without deprecated: before the operation ends, callers get a Sunset header, but no Deprecation and no mail';
    report(at('sunset'), { rule: 'date-order', severity: 'warning', message, at: 'key' });
  }
}

/** LNK-2, RET-1: the successor exists, its parameters are captured, and a redirect keeps the method. */
function checkSuccessor(subject: CheckedOperation, view: PolicyView, report: Report): void {
  const { label, version, name, template, operation } = subject;
  const { successor, after } = operation;
  const path = ['versions', label, 'operations', name, 'successor'];
  if (successor === undefined) {
    if (after !== 'redirect' || isWritten(view, path)) return;
    const message = 'a redirect needs a successor';
    report([...path.slice(0, -1), 'after'], { rule: 'redirect', message });
    return;
  }
  const to = successor.label ?? label;
  if (!view.labels.includes(to)) {
    reportUnknownName(path, 'version', to, view.labels, view, report);
    return;
  }
  const target = successor.template;
  const samePath = target === undefined || sameRequests(template, target);
  if (to === label && samePath)
    report(path, { rule: 'reference', message: 'an operation cannot be its own successor' });
  if (target !== undefined) reportColons(path, target, report, { label: successor.label });
  const captured = parametersOf(template);
  for (const parameter of target === undefined ? [] : parametersOf(target)) {
    if (captured.includes(parameter)) continue;
    const hint = suggest(parameter, captured);
    report(path, { rule: 'reference', message: `${name} does not capture {${parameter}}`, hint });
  }
  if (after !== 'redirect') return;
  if (target !== undefined && target.method !== template.method) {
    const message = `a redirect keeps the method, and ${formatOperation(target)} has another method`;
    report(path, { rule: 'redirect', message });
  }
  const ends = operation.sunset ?? effectiveSunset(version);
  const targetEnds = effectiveSunset(view.versions.get(to) ?? {});
  if (to !== label && ends !== undefined && targetEnds !== undefined && targetEnds <= ends)
    report(path, {
      rule: 'redirect',
      message: `${name} ends on ${dayOf(ends)}, and ${to} has ended by then`,
    });
}

/** Corrects `GET items` and a path without a method. */
function nearOperation(name: string): string | undefined {
  const [, method = '*', path = ''] = /^(?:([A-Za-z]+|\*)\s+)?\/?([^\s/]\S*)$/.exec(name) ?? [];
  const near = `${method.toUpperCase()} /${path}`;
  return parseOperation(near).kind === 'operation' && path !== '' ? `write ${near}` : undefined;
}

/**
 * The operation name without the base, if `name` wrongly contains it, such as `GET /api/v2/orders/search`. Such a template
 * matches no request. A base of one segment is not reported, because that segment may also be part of an operation.
 */
function belowBase(name: string, label: string, parts: PolicyParts): string | undefined {
  const [method = '', written = ''] = name.split(' ');
  const templates = pathsOf(parts).flatMap(({ path }) => [path, path.replace('{version}', label)]);
  const places = [...templates, ...(parts.base === undefined ? [] : [parts.base])];
  const place = places.find(
    (each) => /^\/.+\/./.test(each) && (written === each || written.startsWith(`${each}/`)),
  );
  return place === undefined ? undefined : `${method} ${written.slice(place.length) || '/'}`;
}
