// One version that files do not state any more, as it stands in a store: checked, since anything may stand there.
// Part of published-text.ts.
import type { FormerVersion } from '../plan/published-record.ts';
import { isInstant, isStoredObject, type StoredObject } from './stored-json.ts';

const INSTANTS = ['released', 'deprecated', 'sunset', 'extended', 'forgotten'] as const;

/** Undefined for what is none. */
export function formerIn(value: StoredObject): FormerVersion | undefined {
  const { kind, api, label, places, left, operations } = value;
  if (kind !== 'former' || typeof api !== 'string' || typeof label !== 'string') return undefined;
  if (!isInstant(left) || !isTexts(places) || !isSunsets(operations)) return undefined;
  const instants = INSTANTS.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]] as const]));
  if (!instants.every(([, instant]) => isInstant(instant))) return undefined;
  return {
    kind,
    api,
    label,
    places,
    left,
    ...Object.fromEntries(instants),
    ...(operations !== undefined && { operations }),
  };
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isSunsets(value: unknown): value is FormerVersion['operations'] {
  return value === undefined || (isStoredObject(value) && Object.values(value).every(isInstant));
}
