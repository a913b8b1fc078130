// Checks `contacts`: the API must identify consumers.
import type { CheckContext, PolicyView, Report } from '../view.ts';

export function checkContacts({ parts, versions }: PolicyView, _around: CheckContext, report: Report): void {
  if (parts.contacts === undefined || parts.access !== 'public') return;
  const asks = versions
    .values()
    .some(({ access, operations = {} }) =>
      [access, ...Object.values(operations).map((operation) => operation.access)].some(
        (each) => typeof each === 'object',
      ),
    );
  if (asks) return;
  report(['contacts'], {
    rule: 'contacts',
    severity: 'warning',
    message: 'nobody is known to a public API but by an address, so that nobody is written to',
    hint: 'write access: { identity: <name>, scopes: any }, or take the contacts out',
    at: 'key',
  });
}
