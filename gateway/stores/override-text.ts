// The stored form of overrides, and the order in which they are held.
import type { Override } from '../policy/lifecycle/override.ts';
import { isInstant, isStoredObject, storedValue } from './stored-json.ts';

export function writeOverride({ kind, id, api, label, author, reason, from, until }: Override): string {
  return JSON.stringify({ kind, id, api, label, author, reason, from, until });
}

/**
 * All readable overrides, the earliest first. `onFault` is called if one is unreadable: a later release may
 * have written it.
 */
export function readOverrides(
  texts: readonly string[],
  onFault: (error: unknown) => void,
): readonly Override[] {
  const read = texts.map(readOverride);
  if (read.includes(undefined)) onFault(new TypeError('a stored override is unreadable and is ignored'));
  return inOrder(read.filter((override) => override !== undefined));
}

export function inOrder(overrides: readonly Override[]): readonly Override[] {
  return overrides.toSorted((a, b) => a.from - b.from || (a.id < b.id ? -1 : 1));
}

function readOverride(text: string): Override | undefined {
  const stored = storedValue(text);
  if (!isStoredObject(stored)) return undefined;
  const { kind, id, api, label, author, reason, from, until } = stored;
  if (label !== undefined && typeof label !== 'string') return undefined;
  if (typeof id !== 'string' || typeof api !== 'string' || typeof author !== 'string') return undefined;
  if (typeof reason !== 'string' || !isInstant(from) || !isInstant(until)) return undefined;
  const held = { id, api, author, reason, from, until };
  if (kind === 'pause') return { kind, label, ...held };
  return kind === 'hold' && label !== undefined ? { kind, label, ...held } : undefined;
}
