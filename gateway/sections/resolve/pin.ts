// Checks `pin`: versions must be dates, and callers must be identified.

import { nearRegistered } from '../../plan/read/near-claims.ts';
import { isDate } from '../../policy/versioning/label.ts';
import { isWritten, type PolicyView, type Report } from '../view.ts';

export function checkPin(view: PolicyView, report: Report): void {
  const index = view.parts.resolve?.findIndex(({ pin }) => pin !== undefined) ?? -1;
  if (index < 0) return;
  const path = ['resolve', index, 'pin'];
  const other = view.labels.find((label) => !isDate(label));
  if (other !== undefined) {
    report(path, {
      rule: 'pin',
      message: `accounts are pinned to dates, and the version "${other.slice(0, 60)}" is not a date`,
      hint: 'name versions by date, such as 2026-01-15',
      at: 'key',
    });
  }
  if (view.parts.access === 'public') {
    report(path, {
      rule: 'pin',
      message: 'a public API identifies no accounts, so pin has no effect',
      hint: 'access: { identity: …, scopes: any }',
      at: 'key',
    });
  }
  const { by, match, created } = view.parts.resolve?.[index]?.pin ?? {};
  const nearClaim = by === undefined || by === 'consumer' ? undefined : nearRegistered(by);
  if (nearClaim !== undefined) report([...path, 'by'], nearClaim);
  if (match !== undefined && created === undefined && !isWritten(view, [...path, 'created'])) {
    report([...path, 'match'], {
      rule: 'pin',
      severity: 'warning',
      message: 'match has no effect without created: the first call of an account sets its pin',
      at: 'key',
    });
  }
  checkPublicOperations(view, report);
}

/** The pinned version is known only after authentication, and so is the public operation. */
function checkPublicOperations(view: PolicyView, report: Report): void {
  for (const [label, { operations }] of view.versions) {
    for (const [name, { access }] of Object.entries(operations ?? {})) {
      if (access !== 'public') continue;
      report(['versions', label, 'operations', name, 'access'], {
        rule: 'pin',
        severity: 'warning',
        message:
          'public only for requests that name the version: other requests must authenticate for the pin',
      });
    }
  }
}
