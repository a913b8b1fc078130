// Asks the gateway: JSON over the admin API of the very listener that the pages come from.
// Every refusal is an error with the gateway's own sentence in it; silence is an error of its own.

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

/** Nothing came that can be read: nobody answers, or somebody else does. */
export class Away extends Error {}

/** Whether the gateway said it, or said nothing. @param {unknown} error @returns {error is Away | Refused} */
export function isTold(error) {
  return error instanceof Refused || error instanceof Away;
}

/** A look at the ledger may take the gateway 25 seconds. */
const PATIENCE_MS = 30_000;

/**
 * @param {string} path
 * @param {{ method?: string, body?: unknown, patience?: number }} [how]
 * @returns {Promise<any>}
 */
export async function ask(path, { method = 'GET', body, patience = PATIENCE_MS } = {}) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const { answer, told } = await answered(path, {
    method,
    headers,
    ...sent,
    signal: AbortSignal.timeout(patience),
  });
  // A reload that found errors is an answer like any other.
  if (!answer.ok && told.outcome === undefined) throw new Refused(answer.status, told.message);
  return told;
}

/** @param {string} path @param {RequestInit} request */
async function answered(path, request) {
  try {
    const answer = await fetch(path, request);
    return { answer, told: await answer.json() };
  } catch (cause) {
    throw new Away('The gateway does not answer.', { cause });
  }
}

/**
 * What a store has to say, or why it says nothing: without its store a gateway goes on, and so does what needs none.
 *
 * @template T
 * @param {Promise<T>} asked
 * @returns {Promise<{ told: T, away?: undefined } | { told?: undefined, away: string }>}
 */
export async function unlessAway(asked) {
  try {
    return { told: await asked };
  } catch (error) {
    if (!(error instanceof Refused && error.status === 503)) throw error;
    return { away: error.message };
  }
}
