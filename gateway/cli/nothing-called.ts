// The message for an unknown name, with a suggestion and the known names.
import { suggest } from '../plan/read/shape-issues.ts';

const MAX_NAMES = 20;

/** `none`: the reason if `known` is empty. */
export function nothingCalled(
  noun: string,
  name: string,
  known: readonly string[],
  none = `there are no ${noun}s`,
): string {
  const unknown = `no ${noun} is called ${JSON.stringify(name)}`;
  if (known.length === 0) return `${unknown}: ${none}`;
  const near = suggest(name, known);
  const there = near !== undefined && known.length === 1 ? [] : [`there ${listed(known)}`];
  return `${unknown}: ${[there, near ?? []].flat().join('; ')}`;
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${names.length === 1 ? 'is' : 'are'} ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}
