// Calls by day as a row of bars, with the same figures as a table.
import { h, s } from './elements.js';
import { note, table } from './parts.js';
import { counted, date, number } from './words.js';

const HEIGHT = 96;
const LOWEST = 2;

/** @param {readonly { day: string, calls: number }[]} days whole days without gaps, and today */
export function trend(days) {
  const most = Math.max(...days.map(({ calls }) => calls));
  const total = days.reduce((sum, { calls }) => sum + calls, 0);
  if (total === 0) return h('p', { class: 'quiet' }, `No calls in ${counted(days.length - 1, 'day')}.`);
  const width = 100 / days.length;
  const bars = days.map(({ day, calls }, index) => {
    const height = calls === 0 ? 0 : Math.max(LOWEST, (calls / most) * HEIGHT);
    const place = { x: `${index * width + width * 0.1}%`, width: `${width * 0.8}%` };
    return s(
      'rect',
      { class: 'day', ...place, y: HEIGHT - height, height },
      s('title', {}, `${date(day)}: ${counted(calls, 'call')}`),
    );
  });
  const [first, last] = [days[0], days.at(-1)];
  const called = days.filter(({ calls }) => calls > 0);
  return h(
    'div',
    { class: 'trend' },
    note(`${counted(total, 'call')}, at most ${number(most)} a day`),
    s(
      'svg',
      { width: '100%', height: HEIGHT, role: 'presentation' },
      ...bars,
      s('line', { x1: 0, x2: '100%', y1: HEIGHT, y2: HEIGHT }),
    ),
    h(
      'p',
      { class: 'ends note', 'aria-hidden': 'true' },
      h('span', {}, date(first?.day ?? '')),
      h('span', {}, `${date(last?.day ?? '')}, today`),
    ),
    h(
      'details',
      {},
      h('summary', {}, 'Show as a table'),
      table(
        'Calls by day',
        ['Day', 'Calls'],
        called.toReversed().map(({ day, calls }) => [date(day), number(calls)]),
        '',
      ),
    ),
  );
}
