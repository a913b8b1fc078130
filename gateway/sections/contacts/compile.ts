// The `contacts` of an API as a map.
import type { ApiPlan } from '../../plan/plan.ts';
import type { PolicyFile } from '../policy-file.ts';

export function compileContacts({ contacts = {} }: PolicyFile): Pick<ApiPlan, 'contacts'> {
  return { contacts: new Map(Object.entries(contacts)) };
}
