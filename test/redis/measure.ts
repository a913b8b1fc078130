// Measures one fault with gateways on a faulty and a healthy Redis in turn, so that load affects both.
import type { FaultyFixture } from '../faults/gateway.ts';
import { becomes } from '../faults/gateway.ts';
import type { Client } from '../support/http-client.ts';
import type { Fault } from './faults.ts';

export const MODES = ['allow', 'local', 'refuse'] as const;
const ASKED_EACH = 100;
const BUDGET_MS = 50;
const EXACT_WITHIN_MS = 2_000;

export interface Asked {
  readonly fixture: FaultyFixture;
  readonly client: Client;
}

export interface Line {
  readonly cells: readonly string[];
  /** Broken promises; `timed` if a busy machine can be the cause. */
  readonly broken: readonly { readonly text: string; readonly timed: boolean }[];
}

const atQuantile = (times: readonly number[], quantile: number): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * quantile) - 1] ?? Number.NaN;

async function timed(client: Client, api: string): Promise<{ status: number; counted: boolean; ms: number }> {
  const from = performance.now();
  const { status, headers } = await client.ask({ path: `/api/${api}` });
  return { status, counted: 'x-ratelimit-remaining' in headers, ms: performance.now() - from };
}

/** One line per `on_store_failure`. Afterwards the gateway counts again. */
export async function measure(fault: Fault, faulty: Asked, well: Asked): Promise<readonly Line[]> {
  const isCounted = async (): Promise<boolean> => {
    const { status, counted } = await timed(faulty.client, 'refuse');
    return status === 200 && counted;
  };
  if (!fault.hasBegun && !(await becomes(isCounted, { withinMs: 10_000 })))
    throw new Error(`not well before «${fault.what}»`);
  await fault.befall();
  const took = MODES.map((mode) => ({
    mode,
    base: [] as number[],
    meanwhile: [] as number[],
    answers: new Map<string, number>(),
  }));
  for (let turn = 0; turn < ASKED_EACH; turn += 1) {
    for (const { mode, base, meanwhile, answers } of took) {
      base.push((await timed(well.client, mode)).ms);
      const { status, counted, ms } = await timed(faulty.client, mode);
      meanwhile.push(ms);
      const answer = `${status}${counted ? ' counted' : ''}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  }
  const up = await faulty.fixture.metric('sundial_store_up{store="redis"}');
  const shown = await Promise.all(
    MODES.map(async (mode) => {
      const of = (as: string) =>
        `sundial_ratelimit_mode{api="${mode}",version="none",policy="default",mode="${as}"}`;
      const isShared = (await faulty.fixture.metric(of('shared'))) === 1;
      return isShared ? 'shared' : (await faulty.fixture.metric(of(mode))) === 1 ? mode : 'none';
    }),
  );
  await fault.lift();
  const liftedAt = performance.now();
  await becomes(isCounted, { withinMs: 10_000 });
  const exactMs = performance.now() - liftedAt;

  return took.map(({ mode, base, meanwhile, answers }, index): Line => {
    const away = fault.makes !== 'counted';
    const expected = away ? (mode === 'refuse' ? '503' : '200') : '200 counted';
    // Calls that the rest of a cluster still counts.
    const alsoRight =
      fault.makes === 'partly away' && mode !== 'refuse' ? (answers.get('200 counted') ?? 0) : 0;
    const added = [0.5, 0.99, 1].map(
      (quantile) => atQuantile(meanwhile, quantile) - atQuantile(base, quantile),
    );
    const modeShown = shown[index] ?? 'none';
    const right = (answers.get(expected) ?? 0) + alsoRight;
    const bars = [
      { text: `${right} of ${ASKED_EACH} answered ${expected}`, timed: !away, kept: right === ASKED_EACH },
      { text: `adds ${BUDGET_MS} ms at most`, timed: true, kept: added.every((ms) => ms <= BUDGET_MS) },
      { text: `store_up is ${up}`, timed: !away, kept: up === (away ? 0 : 1) },
      { text: `the mode is ${modeShown}`, timed: !away, kept: modeShown === (away ? mode : 'shared') },
      { text: `exact within ${EXACT_WITHIN_MS} ms`, timed: true, kept: exactMs <= EXACT_WITHIN_MS },
    ];
    return {
      cells: [
        index === 0 ? fault.what : '',
        mode,
        [...answers].map(([answer, count]) => `${count} x ${answer}`).join(', '),
        ...added.map((ms) => ms.toFixed(1)),
        String(up),
        modeShown,
        index === 0 ? exactMs.toFixed(0) : '',
      ],
      broken: bars.filter(({ kept }) => !kept),
    };
  });
}
