// Checks `idempotency`: keys need identified callers and a method that may have one.

import type { Path } from '../../plan/read/document.ts';
import type { CheckContext, PolicyView, Report } from '../view.ts';
import { idempotencyOf } from './compile.ts';
import type { WrittenIdempotency } from './grammar.ts';

type Written = WrittenIdempotency | 'off' | undefined;

export function checkIdempotency(
  { parts, versions, unversioned }: PolicyView,
  _context: CheckContext,
  report: Report,
): void {
  const ofAll = parts.idempotency;
  const checkAnonymous = (at: Path, own: Written, larger: readonly Written[], isPublic: boolean): void => {
    if (own === undefined || own === 'off') return;
    if (!isPublic || idempotencyOf([own, ...larger])?.anonymous !== 'refuse') return;
    report([...at, 'idempotency'], {
      rule: 'idempotency',
      severity: 'warning',
      message: 'a public API identifies no caller, so every idempotency key is refused',
      hint: 'write anonymous: address',
      at: 'key',
    });
  };
  checkAnonymous([], ofAll, [], parts.access === 'public');
  if (unversioned) return;
  for (const [label, version] of versions) {
    checkAnonymous(['versions', label], version.idempotency, [ofAll], parts.access === 'public');
    for (const [name, { access = parts.access, idempotency: own }] of Object.entries(
      version.operations ?? {},
    )) {
      const at = ['versions', label, 'operations', name];
      const larger = [version.idempotency, ofAll];
      checkAnonymous(at, own, larger, access === 'public');
      const methods = own === 'off' ? undefined : own && idempotencyOf([own, ...larger])?.methods;
      const method = name.split(' ')[0] ?? '';
      if (methods === undefined || methods.has(method)) continue;
      report([...at, 'idempotency'], {
        rule: 'idempotency',
        severity: 'warning',
        message: `idempotency has no effect for ${method}: its methods are ${[...methods].join(', ')}`,
        hint: method === 'PATCH' ? 'write methods: [PATCH]' : 'remove it',
        at: 'key',
      });
    }
  }
}
