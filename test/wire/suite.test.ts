// The suite against both listeners of this gateway. `npm run test:wire -- --only <id>` runs one case.
import { beforeAll, describe, expect, it } from 'vitest';
import { ALL_CASES } from './all-cases.ts';
import { startOurGateway } from './our-gateway.ts';
import { startRecorder } from './recorder.ts';
import { otherStatuses, shortcomings, totalsOf } from './report.ts';
import { type Result, runCases } from './run-cases.ts';

const { requests, responses, websockets } = ALL_CASES;
const everyCase = [...requests, ...responses, ...websockets];

/** The run that repeats lax cases of another run. */
const AGAIN: Readonly<Record<string, string>> = { p: 'q', s: 't' };

function casesNamed(ids: readonly string[]): typeof ALL_CASES {
  const isNamed = ({ id }: { readonly id: string }) => ids.includes(id);
  return {
    requests: requests.filter(isNamed),
    responses: responses.filter(isNamed),
    websockets: websockets.filter(isNamed),
  };
}

describe('the tables', () => {
  it('cover requests, responses and WebSockets, and each case has its own id', () => {
    expect(new Set(everyCase.map(({ id }) => id)).size).toBe(everyCase.length);
    expect(requests.length).toBeGreaterThanOrEqual(250);
    expect(responses.length).toBeGreaterThanOrEqual(70);
    expect(websockets.length).toBeGreaterThanOrEqual(30);
  });

  it('have an outcome and a rule for each case', () => {
    const bare = everyCase.filter(({ pass, rules }) => pass.length === 0 || rules.length === 0);
    expect(bare.map(({ id }) => id)).toEqual([]);
    for (const id of everyCase.map((each) => each.id)) expect(id).toMatch(/^[A-Za-z0-9-]+$/);
  });
});

describe('SMG-1 to 26, FWD, H2, WS: this gateway', () => {
  const runs = new Map<string, readonly Result[]>();
  let strangers: readonly string[] = [];

  beforeAll(async () => {
    await using recorder = await startRecorder();
    await using gateway = await startOurGateway(recorder.port);
    await Promise.all(
      Object.entries({ p: gateway.plain, s: gateway.tls }).map(async ([run, listener]) => {
        const results = await runCases({ listener, recorder, cases: ALL_CASES, run, atOnce: 16 });
        // On a busy machine, a parallel case may meet a timeout, so each lax case runs again alone.
        const lax = results.filter(({ verdict }) => verdict === 'LAX').map(({ id }) => id);
        const cases = casesNamed(lax);
        const alone = await runCases({ listener, recorder, cases, run: AGAIN[run] ?? '', atOnce: 1 });
        runs.set(run, [...results.filter(({ id }) => !lax.includes(id)), ...alone]);
      }),
    );
    const tags = ['p', 's', ...Object.values(AGAIN)].flatMap((run) =>
      ['base', ...everyCase.map(({ id }) => id)].map((id) => `t_${id}_${run}`),
    );
    strangers = recorder.requestsBeside(tags).map(({ head }) => head.slice(0, 200));
  }, 180_000);

  it.each([
    ['plain', 'p'],
    ['TLS', 's'],
  ])('fails no case and is lax in at most one, over %s', (_, run) => {
    const results = runs.get(run) ?? [];
    expect(shortcomings(results.filter(({ verdict }) => verdict === 'FAIL'))).toEqual([]);
    expect(totalsOf(results)).toMatchObject({ fail: 0 });
    expect(totalsOf(results).pass).toBeGreaterThan(700);
    expect(totalsOf(results).lax, shortcomings(results).join('\n')).toBeLessThanOrEqual(1);
  });

  it.each([
    ['plain', 'p'],
    ['TLS', 's'],
  ])('ERR-1: responds with the status that the rules name, over %s', (_, run) => {
    expect(otherStatuses(runs.get(run) ?? [])).toEqual([]);
  });

  it('sends the upstream only the requests of the cases', () => {
    expect(strangers).toEqual([]);
  });
});
