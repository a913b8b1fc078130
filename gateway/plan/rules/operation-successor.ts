// operation-successor: the operation that another leads to has not ended by the time that one does.
// RET-4: the gateway sends nobody to what answers 410, so that a redirect there is no redirect.
import { parseOperation, spellOperation } from '../../policy/lifecycle/operation-template.ts';
import { dayOf } from '../../policy/notation.ts';
import type { OperationFile, VersionParts } from '../grammar/policy-grammar.ts';
import { effectiveSunset, redirectOf } from '../redirects.ts';
import { answering } from './answering-operation.ts';
import { orLater } from './calendar.ts';
import type { Rule } from './subject.ts';

export const operationSuccessor: Rule = ({ label, version, at, view }, report) => {
  for (const [name, operation] of Object.entries(version.operations ?? {})) {
    const { successor } = operation;
    const parsed = parseOperation(name);
    if (successor === undefined || parsed.kind === 'malformed') continue;
    const to = successor.label ?? label;
    const { operations } = to === label ? version : (view.versions.get(to) ?? {});
    const asked = successor.template ?? parsed.template;
    const there = answering(operations, asked);
    if (to === label && (there?.name ?? spellOperation(asked)) === spellOperation(parsed.template)) continue;
    const ofVersion = effectiveSunset(version);
    const ends = operation.sunset ?? ofVersion;
    const redirected = isRedirected(operation, version, to);
    // Within one version all ends with it at the latest; another version that has ended is the matter of the redirect.
    const thereEnds = there?.rules.sunset ?? (to === label && redirected ? ofVersion : undefined);
    if (thereEnds === undefined || ends === undefined || thereEnds > ends) continue;
    const target = there?.name ?? spellOperation(asked);
    const withAll = thereEnds === ofVersion && ends === ofVersion;
    report([...at, 'operations', name, 'successor'], {
      rule: 'operation-successor',
      severity: redirected ? 'error' : 'warning',
      message: `${name} ends on ${dayOf(ends)}, and ${to === label ? '' : `${to} `}${target} has ended by then`,
      hint:
        withAll && to === label
          ? `both end with ${label}: an earlier sunset of ${name}, or a successor in another version`
          : orLater(`sunset of ${target}`, ends + 1, `take the sunset of ${target} out`),
    });
  }
};

/** An operation without an end of its own goes where its version does, to the successor it names (LNK-2). */
function isRedirected({ after, sunset }: OperationFile, version: VersionParts, to: string): boolean {
  return after === 'redirect' || (after === undefined && sunset === undefined && redirectOf(version) === to);
}
