// The message for an unknown name, with a suggestion and the known names.
import { suggest } from '../plan/read/shape-issues.ts';

const MAX_NAMES = 20;

export function nothingCalled(noun: string, name: string, known: readonly string[]): string {
  const near = suggest(name, known);
  const there = near !== undefined && known.length === 1 ? [] : [`there ${listed(known)}`];
  return `no ${noun} is called ${JSON.stringify(name)}: ${[there, near ?? []].flat().join('; ')}`;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'is none';
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${names.length === 1 ? 'is' : 'are'} ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}
