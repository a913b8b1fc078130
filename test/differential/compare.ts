// Sends the same cases to a gateway on the fast plane and to one on the general plane, and compares them.
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { ADDRESSES, type DrawnTokens, drawnCase, requestFrom, requestWith } from './drawn-cases.ts';
import { compared, kindOf, readsAnswerOtherwise, readsRequestOtherwise } from './own-ways.ts';
import { type Case, openPlaneSide, type PlaneSide, type Seen, USUAL } from './plane-side.ts';

export interface Difference {
  readonly what: 'case' | 'metrics' | 'ledger';
  readonly one?: Case;
  readonly fast: unknown;
  readonly general: unknown;
}

export interface ComparedSlice {
  readonly sent: number;
  readonly differences: readonly Difference[];
  /** Requests to the fast gateway, by the labels of `sundial_plane_requests_total`. */
  readonly carried: ReadonlyMap<string, number>;
  readonly statuses: ReadonlySet<string>;
  /** The ledger of the fast gateway. */
  readonly ledger: unknown;
}

const DRAWN_AT_ONCE = 1_000;
/** A slice of some thousand cases has each of them. */
const MET_STATUSES = '200 204 304 400 401 403 404 410 417 429 501 502 503'.split(' ');
/** On a busy machine, an early response can arrive before or after the rest of the body, on either plane. */
const EARLY_TRIES = 3;
/** Of the API with scopes. */
const CONSUMERS = 24;
const LEDGER_MS = 20_000;

/** Compares `cases` cases drawn from `seed`. A slice has its own gateways, consumers and limits. */
export async function compareSlice(seed: number, cases: number): Promise<ComparedSlice> {
  await using stack = new AsyncDisposableStack();
  const issuer = stack.adopt(await startTestIssuer(), (started) => started.close());
  const fast = stack.use(await openPlaneSide('fast', issuer.url));
  const general = stack.use(await openPlaneSide('general', issuer.url));
  const tokens = await tokensOf(issuer);
  const differences: Difference[] = [];
  const statuses = new Set<string>();
  let sent = 0;
  const compare = async (one: Case, tries = one.isEarly ? EARLY_TRIES : 1): Promise<void> => {
    sent += 1;
    const [found, expected] = await Promise.all([fast.ask(one), general.ask(one)]);
    for (const [[start = '']] of found.answers) statuses.add(start.slice('HTTP/1.1 '.length, 12));
    const different = differentCase(one, found, expected);
    if (different.length > 0 && tries > 1) return compare(one, tries - 1);
    differences.push(...different);
  };

  const later: Case[] = [];
  for (const one of draw(drawnCase(tokens), seed, cases)) {
    if (kindOf(one) === 'alone') await compare(one);
    else later.push(one);
  }
  // Compares the remaining units of each limit.
  for (const token of tokens.known) await compare({ ...USUAL, request: requestWith(token) });
  for (let address = 0; address < ADDRESSES; address += 1)
    await compare({ ...USUAL, request: requestFrom(address) });
  const [found, expected] = await Promise.all([fast, general].map(({ gateway }) => gateway.requestMetrics()));
  differences.push(...differentLines(found ?? [], expected ?? []), ...(await differentLedger(fast, general)));
  // Not counted for the comparison: one plane may have processed more than the other.
  for (const one of later) await compare({ ...one, leaves: 'destroy' });
  return {
    ...{ sent, differences, statuses },
    carried: await fast.gateway.carried(),
    ledger: await fast.gateway.ledger(),
  };
}

/** The features that the drawn cases of `slice` should have reached and did not. */
export function missedBy({ sent, statuses, carried, ledger }: ComparedSlice): readonly string[] {
  const { consumers } = ledger as { readonly consumers: readonly unknown[] };
  const missed = MET_STATUSES.filter((status) => !statuses.has(status)).map((status) => `status ${status}`);
  if ((carried.get('plane="fast",reason="usual"') ?? 0) < sent / 2)
    missed.push('half of them on the fast plane');
  if (consumers.length <= 10) missed.push('more than 10 consumers in the ledger');
  return missed;
}

/** Cases that both planes read alike. */
function* draw(arbitrary: fc.Arbitrary<Case>, seed: number, cases: number): Iterable<Case> {
  let left = cases;
  for (let round = 0; left > 0; round += 1) {
    for (const one of fc.sample(arbitrary, { seed: seed + round, numRuns: DRAWN_AT_ONCE })) {
      if (readsAnswerOtherwise(one) || readsRequestOtherwise(one)) continue;
      yield one;
      left -= 1;
      if (left === 0) return;
    }
  }
}

async function tokensOf(issuer: TestIssuer): Promise<DrawnTokens> {
  const scope = 'orders:read orders:write';
  const consumers = Array.from({ length: CONSUMERS }, (_, at) =>
    issuer.sign({ client_id: `consumer-${at}`, scope: at % 4 === 0 ? 'orders:read' : scope }),
  );
  const known = [...consumers, issuer.sign({ client_id: 'acme', scope, aud: 'another' }), 'a.b.c'];
  return {
    known: await Promise.all(known),
    unknown: await issuer.sign({ client_id: 'acme', scope }, { kid: 'unknown' }),
  };
}

/** Empty if both planes did the same. */
export function differentCase(one: Case, fast: Seen, general: Seen): readonly Difference[] {
  const [found, expected] = compared(one, fast, general);
  const parts = (['answers', 'closed', 'upstream', 'lines'] as const).filter(
    (part) => JSON.stringify(found[part]) !== JSON.stringify(expected[part]),
  );
  if (parts.length === 0) return [];
  const of = (seen: Partial<Seen>) => Object.fromEntries(parts.map((part) => [part, seen[part]]));
  return [{ what: 'case', one, fast: of(found), general: of(expected) }];
}

function differentLines(fast: readonly string[], general: readonly string[]): readonly Difference[] {
  const beyond = (lines: readonly string[], others: readonly string[]) => {
    const known = new Set(others);
    return lines.filter((line) => !known.has(line));
  };
  const found = { fast: beyond(fast, general), general: beyond(general, fast) };
  return found.fast.length + found.general.length === 0 ? [] : [{ what: 'metrics', ...found }];
}

/** The ledger is written in batches, so the last one may be missing at first. */
async function differentLedger(fast: PlaneSide, general: PlaneSide): Promise<readonly Difference[]> {
  const end = performance.now() + LEDGER_MS;
  for (;;) {
    const [found, expected] = await Promise.all([fast.gateway.ledger(), general.gateway.ledger()]);
    if (JSON.stringify(found) === JSON.stringify(expected)) return [];
    if (performance.now() > end) return [{ what: 'ledger', fast: found, general: expected }];
    await setTimeout(50);
  }
}
