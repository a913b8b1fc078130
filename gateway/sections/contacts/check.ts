// Checks `contacts`: the API must identify consumers.
import type { CheckContext, PolicyView, Report } from '../view.ts';

export function checkContacts({ parts, versions }: PolicyView, _context: CheckContext, report: Report): void {
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
    message: 'a public API identifies no consumer, so no mail is sent',
    hint: 'write access: { identity: <name>, scopes: any }, or remove contacts',
    at: 'key',
  });
}
