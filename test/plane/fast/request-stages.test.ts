// The stages of an event loop iteration: order, bound, and what follows a step that throws.
import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  decideStage,
  forwardStage,
  readStage,
  runStages,
  writeStage,
} from '../../../gateway/plane/fast/request-stages.ts';

const ORDER = ['read', 'decide', 'forward', 'write'];
const STAGES = { write: writeStage, forward: forwardStage, decide: decideStage, read: readStage };
const MAX_WAITING = 64;

test('all steps of a stage run before the next stage, in any order of scheduling', async () => {
  const done: string[] = [];
  for (const each of [1, 2])
    for (const [name, stage] of Object.entries(STAGES))
      stage.schedule((subject) => done.push(subject), `${name} ${each}`);
  expect(done).toEqual([]);
  await nextIteration();
  expect(done).toEqual(ORDER.flatMap((name) => [`${name} 1`, `${name} 2`]));
});

test('a request passes all stages in one iteration, and a new read waits for the next one', async () => {
  const done: string[] = [];
  const note = (text: string): void => void done.push(text);
  readStage.schedule(() => {
    note('read');
    decideStage.schedule(() => {
      note('decide');
      forwardStage.schedule(() => {
        note('forward');
        writeStage.schedule(() => {
          note('write');
          readStage.schedule(note, 'read again');
        }, undefined);
      }, undefined);
    }, undefined);
  }, undefined);
  runStages();
  expect(done).toEqual(ORDER);
  await nextIteration();
  expect(done.at(-1)).toBe('read again');
});

test(`at most ${MAX_WAITING} steps wait in a stage`, () => {
  const done: number[] = [];
  for (let each = 1; each < MAX_WAITING; each += 1)
    writeStage.schedule((subject) => done.push(subject), each);
  expect(done).toEqual([]);
  writeStage.schedule((subject) => done.push(subject), MAX_WAITING);
  expect(done).toHaveLength(MAX_WAITING);
});

test('a step cannot start the stages again while they run', () => {
  const done: string[] = [];
  readStage.schedule(() => {
    runStages();
    done.push('read');
  }, undefined);
  writeStage.schedule(() => done.push('write'), undefined);
  runStages();
  expect(done).toEqual(['read', 'write']);
});

test.each(Object.entries(STAGES))(
  '%s: after a step that throws, all others still run',
  async (_name, stage) => {
    const done: string[] = [];
    stage.schedule((subject) => done.push(subject), 'before');
    stage.schedule(() => {
      throw new Error('a step');
    }, undefined);
    stage.schedule((subject) => done.push(subject), 'behind');
    writeStage.schedule((subject) => done.push(subject), 'last');
    expect(runStages).toThrow('a step');
    await nextIteration();
    expect(done).toEqual(['before', 'behind', 'last']);
  },
);

test('a step that another step adds to its own stage runs once, in the next iteration', async () => {
  const done: string[] = [];
  for (const each of [1, 2])
    writeStage.schedule((name) => {
      done.push(name);
      writeStage.schedule((next) => done.push(next), `behind ${name}`);
    }, `write ${each}`);
  runStages();
  expect(done).toEqual(['write 1', 'write 2']);
  await nextIteration();
  expect(done).toEqual(['write 1', 'write 2', 'behind write 1', 'behind write 2']);
  await nextIteration();
  expect(done).toHaveLength(4);
});

test('a step that is scheduled twice runs twice', async () => {
  const done: string[] = [];
  const step = (name: string): void => void done.push(name);
  for (const each of ['once', 'twice']) writeStage.schedule(step, each);
  await nextIteration();
  expect(done).toEqual(['once', 'twice']);
});
