// Texts about ended pauses and holds.
import { expect, it } from 'vitest';
import type { PauseBody } from '../../../gateway/api/admin-answers.ts';
import { pauseEndedText, pausesText } from '../../../gateway/cli/pause/pause-text.ts';

const HOLD: PauseBody = {
  id: 'guard-orders-v1',
  kind: 'hold',
  api: 'orders',
  version: 'v1',
  from: '2027-02-14T00:00:00Z',
  until: '2027-02-18T00:00:00Z',
  by: 'guard',
  why: '1 consumer',
  effects: [],
};

it('the text of an ended hold says that the guard will make it again', () => {
  expect(pauseEndedText(HOLD)).toBe(
    'Ended the hold of orders v1 that guard had made until 2027-02-18.\n' +
      'The gateway renews a hold until the sunset if usage exceeds retire_when. on_exceed: warn stops that.\n',
  );
  expect(pauseEndedText({ ...HOLD, renewable: true })).toBe(pauseEndedText(HOLD));
  expect(pauseEndedText({ ...HOLD, kind: 'pause', by: 'maria' })).toMatch(/follow their dates again/);
});

it('the text of an ended hold that is not renewable says that retirement follows its date', () => {
  const warned = { ...HOLD, renewable: false };
  const ended = pauseEndedText(warned);
  expect(ended).toMatch(/^Ended the hold .*\nFrom the next request, retirement follows its date again\.\n$/);
  const list = (...overrides: PauseBody[]) =>
    pausesText({ now: HOLD.from, overrides }, (...words) => words.join(' '));
  expect(list(warned)).not.toContain('on_exceed');
  expect(list(warned, { ...HOLD, id: 'guard-orders-v2', renewable: true })).toContain('on_exceed');
});

it('only a list with a hold says how to end it permanently', () => {
  const list = (kind: 'hold' | 'pause') =>
    pausesText({ now: HOLD.from, overrides: [{ ...HOLD, kind }] }, (...words) => words.join(' '));
  expect(list('hold')).toMatch(/\nThe gateway renews a hold .* on_exceed: warn stops that\.\n$/);
  expect(list('pause')).not.toContain('on_exceed');
});
