// `sundial accept`: publishes a date all the same that the rules refuse, once, with a reason that is recorded.
// Speaks to the admin listener, which finds the refused changes in its own files, records them and reloads.
import { type AcceptedAnswer, readAcceptedAnswer } from '../api/admin-answers.ts';
import { askGateway } from './admin-client.ts';
import type { ApartResult } from './check.ts';
import { type OperatorFormat, told } from './operator-result.ts';
import { reloadText } from './reload.ts';
import type { WhichGateway } from './running-gateway.ts';
import { printable } from './terminal-text.ts';

export interface AcceptOptions extends WhichGateway {
  readonly format: OperatorFormat;
  readonly api: string;
  /** Undefined: every version, and the API as a whole. */
  readonly version: string | undefined;
  readonly by: string;
  readonly why: string;
}

/** Twice what a reload may take: the gateway looks first, and reloads then. */
const WITHIN_MS = 120_000;

/** 0 in force, 1 where the gateway says no or the files have other errors. */
export async function runAccept({
  format,
  api,
  version,
  by,
  why,
  ...which
}: AcceptOptions): Promise<ApartResult> {
  const body = { api, ...(version !== undefined && { version }), by, why };
  const ask = { method: 'POST', path: '/-/accepted', body, withinMs: WITHIN_MS } as const;
  return told(await askGateway(which, ask), readAcceptedAnswer, {
    format,
    render: acceptedText,
    isDone: ({ outcome, quarantined = [], leftOut = [] }) =>
      (outcome === 'accepted' || outcome === 'unchanged') && quarantined.length + leftOut.length === 0,
  });
}

/** Dates are written as days where they are midnights. */
const MIDNIGHT = 'T00:00:00Z';

function acceptedText(answer: AcceptedAnswer): string {
  const lines = answer.accepted.map(({ label, to }) =>
    printable(`accepted: ${answer.api} ${label} ${to.replaceAll(MIDNIGHT, '')}`),
  );
  return `${lines.join('\n')}\n${reloadText(answer)}`;
}
