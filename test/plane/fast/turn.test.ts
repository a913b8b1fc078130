// The stages of a turn: order, bound, and what a failing step does to the others.
import { setImmediate as turnEnd } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { judging, reading, runTurn, sending, writing } from '../../../gateway/plane/fast/turn.ts';

const STAGES = { writing, sending, judging, reading };
const MOST_WAITING = 64;

test('whatever comes first, all is read, then judged, then sent, then written', async () => {
  const done: string[] = [];
  for (const each of [1, 2])
    for (const [name, stage] of Object.entries(STAGES))
      stage.later((subject) => done.push(subject), `${name} ${each}`);
  expect(done).toEqual([]);
  await turnEnd();
  const order = ['reading', 'judging', 'sending', 'writing'];
  expect(done).toEqual(order.flatMap((name) => [`${name} 1`, `${name} 2`]));
});

test('a request passes through all stages in one turn, and what a write begins waits for the next', async () => {
  const done: string[] = [];
  const note = (text: string): void => void done.push(text);
  reading.later(() => {
    note('read');
    judging.later(() => {
      note('judged');
      sending.later(() => {
        note('sent');
        writing.later(() => {
          note('written');
          reading.later(note, 'read again');
        }, undefined);
      }, undefined);
    }, undefined);
  }, undefined);
  runTurn();
  expect(done).toEqual(['read', 'judged', 'sent', 'written']);
  await turnEnd();
  expect(done.at(-1)).toBe('read again');
});

test(`no more than ${MOST_WAITING} wait`, () => {
  const done: number[] = [];
  for (let each = 1; each < MOST_WAITING; each += 1) writing.later((subject) => done.push(subject), each);
  expect(done).toEqual([]);
  writing.later((subject) => done.push(subject), MOST_WAITING);
  expect(done).toHaveLength(MOST_WAITING);
});

test('a step that runs the turn does not begin it anew', () => {
  const done: string[] = [];
  reading.later(() => {
    runTurn();
    done.push('read');
  }, undefined);
  writing.later(() => done.push('written'), undefined);
  runTurn();
  expect(done).toEqual(['read', 'written']);
});

test.each(Object.entries(STAGES))('%s: a step that throws loses none of the others', async (_name, stage) => {
  const done: string[] = [];
  stage.later((subject) => done.push(subject), 'before');
  stage.later(() => {
    throw new Error('a step');
  }, undefined);
  stage.later((subject) => done.push(subject), 'behind');
  writing.later((subject) => done.push(subject), 'last');
  expect(runTurn).toThrow('a step');
  await turnEnd();
  expect(done).toEqual(['before', 'behind', 'last']);
});
