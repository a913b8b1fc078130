// Measures the peers of each load in turns: rounds of full load, and of one rate that all of them reach.

import type { Ground } from './ground.ts';
import { type Full, measureFull, measureSteady, type Protocol, type Steady, type Work } from './measure.ts';
import type { Peer } from './peers.ts';
import type { BenchRequest } from './work.ts';

/** The first peer is compared with the others. */
export interface Load {
  readonly title: string;
  readonly protocol: Protocol;
  /** With `once`: requests that no earlier round has sent. */
  readonly requests: (round: number) => readonly BenchRequest[];
  readonly once?: boolean;
  readonly answerOctets: number;
  readonly peers: readonly Peer[];
}

export interface Plan {
  /** Seconds of full load on each peer before the first round. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Seconds of full load on each peer in each round. */
  readonly full: number;
  /** Seconds at the steady rate. */
  readonly steady: number;
}

/** One entry for each round. */
export interface Measured {
  readonly peer: Peer;
  readonly full: readonly Full[];
  /** Empty for requests that may be sent only once. */
  readonly steady: readonly Steady[];
}

export interface Outcome {
  readonly load: Load;
  readonly measured: readonly Measured[];
}

/** Share of the slowest peer's rate under full load. */
const STEADY_SHARE = 0.6;

export async function measureRounds(
  ground: Ground,
  loads: readonly Load[],
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Outcome[]> {
  const outcomes = loads.map((load) => ({
    load,
    rate: 0,
    measured: load.peers.map((peer) => ({ peer, full: [] as Full[], steady: [] as Steady[] })),
  }));
  for (const load of loads) {
    say(`warming: ${load.title}, ${plan.warmUp} s for each of ${load.peers.length}`);
    for (const peer of load.peers)
      await measureFull(
        ground,
        peer,
        { ...load, requests: load.requests(0), once: false },
        { seconds: plan.warmUp },
      );
  }
  for (let round = 0; round < plan.rounds; round += 1) {
    say(`round ${round + 1} of ${plan.rounds}`);
    for (const outcome of outcomes) {
      const { load, measured } = outcome;
      const work: Work = { ...load, requests: load.requests(round + 1) };
      const turns = measured.map((_, at) => measured[(at + round) % measured.length]);
      for (const turn of turns)
        turn?.full.push(await measureFull(ground, turn.peer, work, { seconds: plan.full }));
      if (load.once) continue;
      outcome.rate ||= steadyRate(measured.map(({ full }) => full[0]?.perSecond ?? 0));
      const steady = { seconds: plan.steady, perSecond: outcome.rate };
      for (const turn of turns) turn?.steady.push(await measureSteady(ground, turn.peer, work, steady));
    }
  }
  return outcomes;
}

/** Two significant digits, so that similar runs use the same rate. */
function steadyRate(full: readonly number[]): number {
  return Number((STEADY_SHARE * Math.min(...full)).toPrecision(2));
}
