// Sends the fixed cases split at every octet of the request and of the response.
import { startTestIssuer } from '../support/issuer.ts';
import { type Difference, differentCase } from './compare.ts';
import { FIXED_ANSWERS } from './fixed-answers.ts';
import { FIXED_REQUESTS } from './fixed-requests.ts';
import { type Case, openPlaneSide, USUAL } from './plane-side.ts';

/** A case that is sent once per octet. */
interface FixedCase {
  readonly name: string;
  readonly splitAt: (place: number) => Case;
  readonly octets: number;
}

const FIXED_CASES: readonly FixedCase[] = [
  ...FIXED_REQUESTS.map(([name, request]) => ({
    name,
    splitAt: (cut: number): Case => ({ ...USUAL, request, cut }),
    octets: request.length,
  })),
  ...FIXED_ANSWERS.map(([name, answer]) => ({
    name: `a response: ${name}`,
    splitAt: (answerCut: number): Case => ({ ...USUAL, answer, answerCut }),
    octets: answer.length,
  })),
];

interface NamedDifference extends Difference {
  readonly name: string;
}

export interface ComparedSplits {
  readonly sent: number;
  readonly differences: readonly NamedDifference[];
}

export async function compareEveryByte(): Promise<ComparedSplits> {
  await using stack = new AsyncDisposableStack();
  const issuer = stack.adopt(await startTestIssuer(), (started) => started.close());
  const fast = stack.use(await openPlaneSide('fast', issuer.url));
  const general = stack.use(await openPlaneSide('general', issuer.url));
  const differences: NamedDifference[] = [];
  let sent = 0;
  for (const { name, splitAt, octets } of FIXED_CASES) {
    for (let place = 0; place < octets; place += 1) {
      sent += 1;
      const one = splitAt(place);
      const [found, expected] = await Promise.all([fast.ask(one), general.ask(one)]);
      differences.push(...differentCase(one, found, expected).map((each) => ({ name, ...each })));
    }
  }
  return { sent, differences };
}
