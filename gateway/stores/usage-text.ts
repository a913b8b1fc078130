// How the parts of a ledger record stand in a store, and a record from them: checked, since anything may stand there.
// Both stores keep records so; what neither of them has to look into is one text.
import { MOST_AGENTS } from '../policy/usage/agents.ts';
import { dayNamed, startOfDay } from '../policy/usage/day.ts';
import type { UsageRecord, UsageSample, UsageSubject } from '../policy/usage/ledger.ts';
import type { UsagePlace } from '../policy/usage/place.ts';
import { isInstant, isStoredObject, storedValue } from './stored-json.ts';

export interface StoredUsage {
  readonly place: UsagePlace;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly agents: string | undefined;
  readonly sample: string | undefined;
  readonly days: readonly (readonly [day: number, calls: number])[];
}

/** An agent is one line: it has no control character. */
const BETWEEN_AGENTS = '\n';

export function storedAgents(agents: readonly string[]): string {
  return agents.join(BETWEEN_AGENTS);
}

export function agentsIn(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(BETWEEN_AGENTS).slice(-MOST_AGENTS);
}

export function storedSample(sample: UsageSample | undefined): string | undefined {
  return sample && JSON.stringify(sample);
}

/** Undefined for what is no record. What a later edition wrote beside it is left where it is. */
export function recordFrom({
  place,
  firstAt,
  lastAt,
  agents,
  sample,
  days,
}: StoredUsage): UsageRecord | undefined {
  const [api, version, consumer, via, operation] = place;
  if (!isVia(via) || !isInstant(firstAt) || !isInstant(lastAt)) return undefined;
  if (!days.every(([day, calls]) => isInstant(startOfDay(day)) && Number.isSafeInteger(calls)))
    return undefined;
  return {
    consumer,
    via,
    api,
    version,
    operation: operation === '' ? undefined : operation,
    firstAt,
    lastAt,
    callsByDay: Object.fromEntries(
      days.toSorted(([one], [other]) => one - other).map(([day, calls]) => [dayNamed(day), calls]),
    ),
    agents: agentsIn(agents),
    sample: sampleIn(sample),
  };
}

function sampleIn(text: string | undefined): UsageSample | undefined {
  const value = text === undefined ? undefined : storedValue(text);
  if (!isStoredObject(value)) return undefined;
  const { method, template, requestId } = value;
  return typeof method === 'string' && typeof template === 'string' && typeof requestId === 'string'
    ? { method, template, requestId }
    : undefined;
}

function isVia(text: string): text is UsageSubject['via'] {
  switch (text) {
    case 'token':
    case 'key':
    case 'certificate':
    case 'address':
      return true;
    default:
      return false;
  }
}
