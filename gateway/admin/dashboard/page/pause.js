// The pauses and holds of a version, and for whoever has signed in: making a pause, and ending one.
// Part of the page of a version; what a pause may be is decided by the gateway.
import { ask } from './ask.js';
import { h } from './elements.js';
import { signInNote, table } from './parts.js';
import { away, date } from './words.js';

/** @param {{ version: any, overrides: readonly any[] | undefined, now: string, session: { signedIn: boolean }, again: () => void }} seen */
export function pauseBox({ version, overrides, now, session, again }) {
  if (overrides === undefined) return h('p', { class: 'quiet' }, 'Not known: the store does not answer.');
  const rows = overrides.map(({ id, kind, from, until, by, why }) => [
    kind,
    `${date(from)} to ${date(until)}, ends ${away(until, now)}`,
    by,
    why,
    kind === 'pause' && session.signedIn ? endForm(id, again) : '',
  ]);
  return h(
    'div',
    {},
    table('Pauses and holds', ['Kind', 'When', 'By', 'Why', ''], rows, 'None is in force.'),
    version.stage === 'deprecated' &&
      (session.signedIn ? pauseForm(version, again) : signInNote('pause its brownouts and its end')),
  );
}

/** @param {any} version @param {() => void} again */
function pauseForm({ api, version }, again) {
  return writeForm(
    'Pause brownouts and the end',
    [
      ['for', 'For how long, such as 2h or 3d', ''],
      ['by', 'Who pauses', ''],
      ['why', 'Why', ''],
    ],
    (given) => ask('/-/pauses', { method: 'POST', body: { api, version, ...given } }),
    again,
  );
}

/** @param {string} id @param {() => void} again */
function endForm(id, again) {
  return writeForm(
    'End it',
    [
      ['by', 'Who ends it', ''],
      ['why', 'Why', ''],
    ],
    (given) => ask(`/-/pauses/${encodeURIComponent(id)}`, { method: 'DELETE', body: given }),
    again,
    id,
  );
}

/**
 * Closed until it is meant, so that nothing is written by a slip.
 *
 * @param {string} what
 * @param {readonly (readonly [name: string, label: string, value: string])[]} fields
 * @param {(given: Record<string, string>) => Promise<unknown>} write
 * @param {() => void} again
 * @param {string} [key]
 */
function writeForm(what, fields, write, again, key = what) {
  const told = h('p', { role: 'alert' });
  const inputs = fields.map(([name, label, value]) => {
    const id = `${key}-${name}`.replaceAll(/\W+/g, '-');
    const input = /** @type {HTMLInputElement} */ (
      h('input', { id, name, value, required: true, autocomplete: 'off' })
    );
    return { name, input, line: [h('label', { for: id }, label), input] };
  });
  const form = h(
    'form',
    {},
    ...inputs.flatMap(({ line }) => line),
    told,
    h('button', { type: 'submit' }, what),
  );
  const summary = h('summary', {}, what);
  const box = h('details', { 'data-key': key, 'data-own': true }, summary, form);
  let busy = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    // Twice pressed is once meant.
    if (busy) return;
    busy = true;
    try {
      await write(Object.fromEntries(inputs.map(({ name, input }) => [name, input.value.trim()])));
      told.textContent = '';
      for (const { input } of inputs) input.value = '';
      summary.focus();
      box.removeAttribute('open');
      again();
    } catch (error) {
      told.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      busy = false;
    }
  });
  return box;
}
