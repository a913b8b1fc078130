// The user agents of a record: what a client said it is, made harmless and few.

export const MOST_AGENTS = 5;
const AGENT_CAP = 120;

/** Cut, and without control characters, so that it fits one line of whatever shows it; undefined where nothing is left. */
export function cleanAgent(agent: string): string | undefined {
  const text = agent
    .slice(0, AGENT_CAP)
    .toWellFormed()
    .replace(/\p{C}+/gu, ' ')
    .trim();
  return text === '' ? undefined : text;
}

/** The latest last; of more than five the latest. The very same list where `fresh` brings nothing. */
export function mergeAgents(known: readonly string[], fresh: readonly string[]): readonly string[] {
  if (fresh.length === 0 || isTail(known, fresh)) return known;
  return [...known.filter((agent) => !fresh.includes(agent)), ...fresh].slice(-MOST_AGENTS);
}

function isTail(known: readonly string[], fresh: readonly string[]): boolean {
  const start = known.length - fresh.length;
  return start >= 0 && fresh.every((agent, index) => known[start + index] === agent);
}
