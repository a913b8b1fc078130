// The fixed cases, split at every octet: a request between any two of its octets, and so an answer.
import { startTestIssuer } from '../support/issuer.ts';
import { type Difference, differentCase } from './compare.ts';
import { FIXED_ANSWERS } from './fixed-answers.ts';
import { FIXED_REQUESTS } from './fixed-requests.ts';
import { type Case, openPlaneSide, USUAL } from './plane-side.ts';

/** A case by name, and its split editions. */
interface FixedCase {
  readonly name: string;
  readonly whole: Case;
  readonly splitAt: (place: number) => Case;
  readonly octets: number;
}

export const FIXED_CASES: readonly FixedCase[] = [
  ...FIXED_REQUESTS.map(([name, request]) => ({
    name,
    whole: { ...USUAL, request },
    splitAt: (cut: number): Case => ({ ...USUAL, request, cut }),
    octets: request.length,
  })),
  ...FIXED_ANSWERS.map(([name, answer]) => ({
    name: `an answer: ${name}`,
    whole: { ...USUAL, answer },
    splitAt: (answerCut: number): Case => ({ ...USUAL, answer, answerCut }),
    octets: answer.length,
  })),
];

interface NamedDifference extends Difference {
  /** Of the fixed case. */
  readonly name: string;
}

export interface ComparedSplits {
  readonly sent: number;
  readonly differences: readonly NamedDifference[];
}

/**
 * Compares the planes for each split of each case. `oracle`: `whole` takes what the general plane does with the case in one
 * piece, and asks it for a split only where the fast plane does something else with that.
 */
export async function compareEveryByte(oracle: 'whole' | 'split'): Promise<ComparedSplits> {
  await using stack = new AsyncDisposableStack();
  const issuer = stack.adopt(await startTestIssuer(), (started) => started.close());
  const fast = stack.use(await openPlaneSide('fast', issuer.url));
  const general = stack.use(await openPlaneSide('general', issuer.url));
  const differences: NamedDifference[] = [];
  let sent = 0;
  for (const { name, whole, splitAt, octets } of FIXED_CASES) {
    const expected = await general.ask(whole);
    for (let place = 0; place < octets; place += 1) {
      sent += 1;
      const one = splitAt(place);
      const found = await fast.ask(one);
      if (oracle === 'whole' && differentCase(one, found, expected).length === 0) continue;
      differences.push(
        ...differentCase(one, found, await general.ask(one)).map((each) => ({ name, ...each })),
      );
    }
  }
  return { sent, differences };
}
