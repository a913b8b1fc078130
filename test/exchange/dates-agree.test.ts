// Every view of random schedules at random instants agrees with the model in dates-model.ts.
import { beforeAll, describe, expect, it } from 'vitest';
import { compileApi, planSteps } from '../../gateway/plan/compile/plan.ts';
import { hasPlan, type LoadedPlan } from '../../gateway/plan/load.ts';
import { atOnce } from '../../gateway/system/time-slices.ts';
import { workspace } from '../plan/workspace.ts';
import { FUZZ_TIMEOUT_MS, samples } from '../support/fuzz.ts';
import { caseArbitrary, fileOf } from './dates-drawn.ts';
import * as expected from './dates-expected.ts';
import { answerAt, type Case, datesAt, isForgotten, partDatesAt, stageAt } from './dates-model.ts';
import * as views from './dates-views.ts';

const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: public
limits: { rate: 600/1m, deprecated: 50% }
upstreams: { v1: { targets: [http://127.0.0.1:4001] }, v2: { targets: [http://127.0.0.1:4002] } }
versions: { v1: { released: 2024-01-01 }, v2: { released: 2024-01-01 } }
`;
const LIVES = 1_000;

let whole: LoadedPlan;
beforeAll(async () => {
  await using files = await workspace({ 'policies/orders.yaml': POLICY });
  const loaded = await files.load();
  if (!hasPlan(loaded)) throw new Error('the sample is a whole plan');
  whole = loaded;
});

function lookingAt(drawn: Case): views.Looking {
  const [source] = whole.sources.policies;
  if (source === undefined) throw new Error('the sample has a policy file');
  const { settings } = whole;
  const file = fileOf(drawn, source.file);
  const plan = atOnce(planSteps({ settings, apis: [compileApi(file, settings)], revision: '0' }));
  return { whole, file, plan, now: drawn.now };
}

/** The expected and the actual output of each view. */
async function rowsOf(
  drawn: Case,
  withDescription: boolean,
): Promise<readonly (readonly [view: string, should: unknown, says: unknown])[]> {
  const { now } = drawn;
  const looking = lookingAt(drawn);
  const version = datesAt(drawn, now);
  const operation = partDatesAt(drawn, now);
  const gone = isForgotten(version, now);
  const unknown = gone || stageAt(version, now) === 'planned';
  const rows: (readonly [string, unknown, unknown])[] = [];
  for (const [subject, dates] of [
    ['version', version],
    ['operation', operation],
  ] as const) {
    const { body, freshUntil, ...seen } = await views.answer(looking, views.PATHS[subject]);
    const should = answerAt(drawn, dates, now);
    rows.push([`${subject} answer`, unknown ? 'version_unknown' : should, unknown ? seen.outcome : seen]);
    if (!unknown && should.outcome === 'version_retired')
      rows.push([`${subject} 410 word`, expected.endWords(dates, now), expected.wordsIn(body)]);
    if (!unknown)
      rows.push([`${subject} freshness`, true, freshUntil <= expected.nextChange(drawn, subject)]);
    const { stage, next } = await views.explained(looking, views.PATHS[subject]);
    rows.push([`${subject} explain`, unknown ? undefined : expected.explained(dates, now), stage]);
    rows.push([`${subject} explain next`, expected.nextAnswer(drawn, subject), next[0]]);
  }
  const json = await views.json(looking);
  const all = gone && !drawn.accompanied;
  const both = { version, operation };
  rows.push([
    'json',
    all ? undefined : expected.json(drawn, both),
    json && { ...json, freshUntil: undefined, changelog: undefined },
  ]);
  if (json !== undefined)
    rows.push(['json freshness', true, json.freshUntil <= expected.nextAnnounced(drawn)]);
  const html = await views.html(looking);
  rows.push([
    'html',
    all ? undefined : expected.html(drawn, both),
    html && { version: html.rows.get('v1'), operation: html.rows.get('v1 GET /old') },
  ]);
  rows.push(['calendar', all ? undefined : expected.calendar(both, now), await views.calendar(looking)]);
  const changelog = all ? undefined : expected.feed(drawn);
  rows.push(['feed', changelog, await views.feed(looking)]);
  rows.push(['changelog in json', changelog, json?.changelog]);
  rows.push(['changelog in html', changelog, html?.changelog]);
  if (drawn.accompanied)
    rows.push(['predecessor', expected.isPredecessor(version, now), await views.predecessor(looking)]);
  rows.push(['catalog', expected.catalog(version, now), await views.catalog(looking)]);
  rows.push(['timeline', expected.timeline(version, now), expected.timelineWords(views.timeline(looking))]);
  rows.push(['timeline json', expected.timelineDocument(both, now), views.timelineDocument(looking)]);
  if (withDescription) rows.push(['openapi', expected.described(drawn, both), views.described(looking)]);
  rows.push(['metrics', expected.metrics(drawn, version), views.metrics(looking)]);
  rows.push(['notices', expected.notices(drawn, both), views.notices(looking)]);
  return rows;
}

describe('every view shows the same dates', () => {
  it(
    'DEP-8, SUN-2, RET-11: every view of a random schedule agrees with the model at a random instant',
    async () => {
      const { seed, drawn } = samples(caseArbitrary, LIVES);
      const wrong = new Map<string, number>();
      const first: unknown[] = [];
      for (const [index, each] of drawn.entries()) {
        // Writing and reading a description takes as long as all other views together.
        for (const [view, should, says] of await rowsOf(each, index % 8 === 0)) {
          const [one, other] = [JSON.stringify(should), JSON.stringify(says)];
          if (one === other) continue;
          if (!wrong.has(view))
            first.push({
              view,
              case: JSON.stringify(each),
              should: one,
              says: other,
            });
          wrong.set(view, (wrong.get(view) ?? 0) + 1);
        }
      }
      expect({ seed, wrong: Object.fromEntries(wrong), first }).toEqual({ seed, wrong: {}, first: [] });
    },
    10 * FUZZ_TIMEOUT_MS,
  );
});
