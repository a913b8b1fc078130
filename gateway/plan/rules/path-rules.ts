// Rules path-overlap, encoded-slash and nested-access of one file: paths that a service may read differently.

import {
  formatOperation,
  type OperationTemplate,
  parseOperation,
  sameRequests,
  shareMethods,
} from '../../policy/lifecycle/operation-template.ts';
import { decodedOctets } from '../../policy/octets.ts';
import { lettersOf } from '../../policy/paths/reading.ts';
import type { PathRules } from '../../policy/paths/rules.ts';
import { pathRulesOf } from '../../sections/routes/compile.ts';
import type { PathsFile } from '../../sections/routes/grammar.ts';
import { isWritten, type PolicyView, type Report, versionPath } from '../../sections/view.ts';
import { pathInside, placesIn } from '../upstreams/upstream-places.ts';

/** `byDefault`: `paths` of the gateway file. */
export function pathRules(view: PolicyView, byDefault: PathsFile | undefined, report: Report): void {
  const rules = pathRulesOf(view.parts.paths ?? byDefault);
  nestedVersions(view, report);
  let hasOperations = false;
  for (const [label, { operations }] of view.versions) {
    const before: OperationTemplate[] = [];
    for (const key of Object.keys(operations ?? {})) {
      const parsed = parseOperation(key);
      if (parsed.kind === 'malformed') continue;
      hasOperations = true;
      const { template } = parsed;
      const other = before.find((each) => mayBeConfused(each, template, rules));
      before.push(template);
      if (other === undefined) continue;
      report([...versionPath(label), 'operations', key], {
        rule: 'path-overlap',
        message: `the service may route the same request to ${formatOperation(other)}; the request must then pass the rules of both operations`,
        hint: 'set paths: to a preset such as express, or use the same rules in both',
        at: 'key',
      });
    }
  }
  const at = ['paths', 'encoded_slash'];
  if (hasOperations && isWritten(view, at) && rules.encodedSlash === 'keep')
    report(at, {
      rule: 'encoded-slash',
      message:
        'a service that decodes %2F routes the request to another operation than the one whose rules apply',
      hint: 'write encoded_slash: both, unless the service keeps %2F in its segment',
    });
}

/** A version whose upstream path is inside another's. Requests for the outer version that lead there are refused. */
function nestedVersions({ parts }: PolicyView, report: Report): void {
  const places = [...placesIn(parts)];
  for (const [label, inner] of places) {
    const found = places.find(([, each]) => pathInside(each, inner) !== undefined);
    if (found === undefined) continue;
    const [outer, outerPlace] = found;
    report(['upstreams', label], {
      rule: 'nested-access',
      message: `requests for ${outer} whose path after the base begins with ${pathInside(outerPlace, inner)} get 400: the service would read them as requests for ${label}`,
      hint: 'give each version a path that is not inside another, or write rules: { nested-access: off }',
      at: 'key',
    });
  }
}

/** Whether two templates differ only in parts that a service may ignore, such as case. */
function mayBeConfused(one: OperationTemplate, other: OperationTemplate, rules: PathRules): boolean {
  const { segments } = one;
  if (segments.length !== other.segments.length || !shareMethods(one, other)) return false;
  if (sameRequests({ ...one, method: other.method }, other)) return false;
  return segments.every((left, index) => {
    const right = other.segments[index];
    if (left.kind === 'parameter' || right?.kind !== 'literal') return left.kind === right?.kind;
    const isLast = index === segments.length - 1;
    const [mine, theirs] = [left.text, right.text].map((text) => namesIn(text, rules, isLast));
    return mine?.some((name) => theirs?.includes(name)) ?? false;
  });
}

/** The names under which a service may read a literal, its own first. */
function namesIn(text: string, rules: PathRules, isLast: boolean): readonly string[] {
  const decoded = decodedOctets(text);
  const name = rules.case === 'sensitive' ? decoded : lettersOf(decoded, 'unicode');
  const cut = rules.parameters === 'keep' ? [] : [name.replace(/;.*$/s, '')];
  const bare = rules.suffix === 'keep' || !isLast ? [] : [name.replace(/(?<=.)\..*$/s, '')];
  return [name, ...cut, ...bare];
}
