// Cleans, truncates and merges the user agents of a ledger record.

export const MAX_AGENTS = 5;
const AGENT_CAP = 120;

export function cleanAgent(agent: string): string | undefined {
  const text = agent
    .slice(0, AGENT_CAP)
    .toWellFormed()
    .replace(/\p{C}+/gu, ' ')
    .trim();
  return text === '' ? undefined : text;
}

/** The latest last, at most five. Returns `known` itself if `fresh` changes nothing. */
export function mergeAgents(known: readonly string[], fresh: readonly string[]): readonly string[] {
  if (fresh.length === 0 || isTail(known, fresh)) return known;
  return [...known.filter((agent) => !fresh.includes(agent)), ...fresh].slice(-MAX_AGENTS);
}

function isTail(known: readonly string[], fresh: readonly string[]): boolean {
  const start = known.length - fresh.length;
  return start >= 0 && fresh.every((agent, index) => known[start + index] === agent);
}
