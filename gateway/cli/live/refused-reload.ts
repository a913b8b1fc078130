// What the running gateway would refuse at a reload: for `check --live`.
// Asked through the admin API of the gateway file; the gateway reads its own files and changes nothing.
import { readPreviewAnswer } from '../../api/admin-answers.ts';
import type { Problem } from '../../plan/problems.ts';
import { askGateway } from '../admin-client.ts';
import { type Failure, OTHER_EDITION, type WhichGateway } from '../running-gateway.ts';

export interface RefusedReload {
  /** Errors alone: the rest is what the files themselves say. */
  readonly problems: readonly Problem[];
  /** Why the gateway was not asked. */
  readonly absent?: string;
  /** No gateway answers, although the gateway file says where one is reached. */
  readonly unanswered?: boolean;
}

export const NOTHING_REFUSED: RefusedReload = { problems: [] };

/** Thousands of files are read in that time. */
const WITHIN_MS = 60_000;
const NO_ANSWER = 3;

export async function refusedByGateway(
  which: Pick<WhichGateway, 'environment' | 'now' | 'cwd'> & { readonly configFile: string },
): Promise<RefusedReload> {
  const reached = { ...which, config: which.configFile, admin: undefined };
  const ask = { method: 'GET', path: '/-/reload/preview', withinMs: WITHIN_MS } as const;
  const answer = await askGateway(reached, ask);
  if (answer.kind === 'failed') return absent(answer);
  const preview = readPreviewAnswer(answer.body);
  if (preview === undefined) return absent(OTHER_EDITION);
  return { problems: preview.problems.filter(({ severity }) => severity === 'error') };
}

function absent({ text, exitCode }: Failure): RefusedReload {
  const why = text.replace(/^sundial: /, '').trim();
  const advice = 'sundial check --store compares with the schedules that are recorded';
  return {
    problems: [],
    absent: `no gateway was asked what a reload would refuse: ${why}; ${advice}`,
    unanswered: exitCode === NO_ANSWER,
  };
}
