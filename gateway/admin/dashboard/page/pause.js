// The pauses and holds of a version, with forms to add and end a pause for signed-in operators.
import { ask } from './ask.js';
import { h } from './elements.js';
import { signInNote, table } from './parts.js';
import { away, date } from './words.js';

/** @param {{ version: any, overrides: readonly any[] | undefined, now: string, session: { signedIn: boolean }, again: () => void }} seen */
export function pauseBox({ version, overrides, now, session, again }) {
  if (overrides === undefined) return h('p', { class: 'quiet' }, 'Unknown: the store does not answer.');
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
    table('Pauses and holds', ['Kind', 'When', 'By', 'Reason', ''], rows, 'No pauses or holds.'),
    version.stage === 'deprecated' &&
      (session.signedIn ? pauseForm(version, again) : signInNote('pause brownouts and the sunset')),
  );
}

/** @param {any} version @param {() => void} again */
function pauseForm({ api, version }, again) {
  return writeForm(
    'Pause brownouts and sunset',
    [
      ['for', 'Duration, such as 2h or 3d'],
      ['by', 'Your name'],
      ['why', 'Reason'],
    ],
    (given) => ask('/-/pauses', { method: 'POST', body: { api, version, ...given } }),
    again,
  );
}

/** @param {string} id @param {() => void} again */
function endForm(id, again) {
  return writeForm(
    'End pause',
    [
      ['by', 'Your name'],
      ['why', 'Reason'],
    ],
    (given) => ask(`/-/pauses/${encodeURIComponent(id)}`, { method: 'DELETE', body: given }),
    again,
    id,
  );
}

/**
 * Closed at first, so that a wrong click writes nothing.
 *
 * @param {string} what
 * @param {readonly (readonly [name: string, label: string])[]} fields
 * @param {(given: Record<string, string>) => Promise<unknown>} write
 * @param {() => void} again
 * @param {string} [key]
 */
function writeForm(what, fields, write, again, key = what) {
  const message = h('p', { role: 'alert' });
  const inputs = fields.map(([name, label]) => {
    const id = `${key}-${name}`.replaceAll(/\W+/g, '-');
    const input = /** @type {HTMLInputElement} */ (
      h('input', { id, name, required: true, autocomplete: 'off' })
    );
    return { name, input, line: [h('label', { for: id }, label), input] };
  });
  const form = h(
    'form',
    {},
    ...inputs.flatMap(({ line }) => line),
    message,
    h('button', { type: 'submit' }, what),
  );
  const summary = h('summary', {}, what);
  const box = h('details', { 'data-key': key, 'data-own': true }, summary, form);
  let busy = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    // Ignores a second click while the first request runs.
    if (busy) return;
    busy = true;
    try {
      await write(Object.fromEntries(inputs.map(({ name, input }) => [name, input.value.trim()])));
      message.textContent = '';
      for (const { input } of inputs) input.value = '';
      summary.focus();
      box.removeAttribute('open');
      again();
    } catch (error) {
      message.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      busy = false;
    }
  });
  return box;
}
