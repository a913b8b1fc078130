// Asks the gateway: JSON over the admin API of the very listener that the pages come from.
// Every refusal is an error with the gateway's own sentence in it.

export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const PATIENCE_MS = 30_000;

/**
 * @param {string} path
 * @param {{ method?: string, body?: unknown }} [write]
 * @returns {Promise<any>}
 */
export async function ask(path, { method = 'GET', body } = {}) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await fetch(path, { method, headers, ...sent, signal });
  const told = await answer.json();
  // A reload that found errors is an answer like any other.
  if (!answer.ok && told.outcome === undefined) throw new Refused(answer.status, told.message);
  return told;
}
