// The configuration in force with secrets redacted, the last time the policies were read, and what was wrong with them.
// Shown by dashboard.js for /dashboard/configuration; whoever has signed in may have the policies read again.
import { ask } from './ask.js';
import { h } from './elements.js';
import { badge, facts, section, signInNote, table, warning } from './parts.js';
import { counted, instant } from './words.js';

export const title = 'Configuration';

/** The documents are long, and stay as they are until the policies are read again. */
let known = /** @type {{ of: string, config: any } | undefined} */ (undefined);

/** @param {import('./dashboard.js').Look} look */
export async function look({ standing, session, again }) {
  const { last } = await ask('/-/reload');
  const of = `${standing.revision} ${last?.at}`;
  if (known?.of !== of) known = { of, config: await ask('/-/config') };
  return { config: known.config, last, session, again };
}

/** @param {any} seen */
export function view({ config, last, session, again }) {
  return [
    h('h1', {}, 'Configuration'),
    last?.outcome === 'rejected' &&
      warning(
        'bad',
        `The policy files have ${counted(errorsOf(last), 'error')}: what was in force before stays in force.`,
      ),
    last?.outcome === 'accepted' &&
      last.quarantined !== undefined &&
      warning('bad', 'Some policy files are refused: the last accepted form of their APIs is served.'),
    last?.outcome === 'accepted' &&
      last.leftOut !== undefined &&
      warning('bad', 'Some policy files are refused: their APIs are left out.'),
    last?.outcome === 'failed' &&
      warning('bad', 'The policy files could not be read again; the log says why.'),
    last?.restartNeeded && warning('near', 'The gateway file has changed: restart to apply it.'),
    section(
      'Last reload',
      lastReload(last, config),
      session.signedIn ? reloadButton(again) : signInNote('have the policies read again'),
    ),
    (last?.problems.length ?? 0) > 0 && section('Problems', problems(last)),
    section('In force', ...config.documents.map(documentBox)),
  ];
}

/** @param {any} last */
function errorsOf({ problems: all }) {
  return all.filter((/** @type {any} */ { severity }) => severity === 'error').length;
}

/** @param {any} last @param {any} config */
function lastReload(last, { revision }) {
  /** @type {Record<string, [string, string]>} */
  const words = {
    accepted: ['good', 'new policies in force'],
    unchanged: ['good', 'nothing had changed'],
    rejected: ['bad', 'rejected'],
    failed: ['bad', 'failed'],
  };
  const [kind, text] = words[last?.outcome] ?? ['calm', 'not read again yet'];
  return facts([
    ['Outcome', badge(kind, text)],
    ['Read', last !== null && instant(last.at)],
    ['In force since', last !== null && instant(last.since)],
    ['Revision', h('code', {}, revision)],
  ]);
}

/** @param {any} last */
function problems({ problems: all }) {
  const rows = all.map((/** @type {any} */ { file, line, column, severity, message, hint }) => [
    h('code', {}, `${file}:${line}:${column}`),
    badge(severity === 'error' ? 'bad' : 'near', severity),
    hint === undefined ? message : `${message} (${hint})`,
  ]);
  return table('Problems', ['Where', 'Severity', 'What'], rows, '');
}

/** @param {any} document */
function documentBox({ file, values }) {
  return h(
    'details',
    { 'data-key': file },
    h('summary', {}, h('code', {}, file)),
    h('pre', {}, JSON.stringify(values, null, 2)),
  );
}

/** @param {() => void} again */
function reloadButton(again) {
  const told = h('p', { role: 'status', class: 'note' });
  const button = h('button', { type: 'button' }, 'Read the policies again');
  let busy = false;
  button.addEventListener('click', async () => {
    if (busy) return;
    busy = true;
    told.textContent = 'Reading …';
    try {
      const { outcome } = await ask('/-/reload', { method: 'POST', body: {} });
      told.textContent = `Done: ${outcome}.`;
    } catch (error) {
      told.textContent = error instanceof Error ? error.message : String(error);
    }
    busy = false;
    again();
  });
  return h('div', { 'data-own': true, 'data-key': 'reload' }, button, told);
}
