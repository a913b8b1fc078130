// The configuration in force with secrets redacted, the last reload with its problems, and a button to reload.
import { ask } from './ask.js';
import { h } from './elements.js';
import { listing, listTable } from './listing.js';
import { badge, facts, section, signInNote, warning } from './parts.js';
import { counted, instant } from './words.js';

export const title = 'Configuration';

/** Cached, because the documents are long and change only with a reload. */
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
        `The reload was rejected with ${counted(errorsOf(last), 'error')}. The policies before it stay in force.`,
      ),
    last?.outcome === 'accepted' &&
      last.quarantined !== undefined &&
      warning(
        'bad',
        'Some policy files are refused. The gateway serves the last accepted form of their APIs.',
      ),
    last?.outcome === 'accepted' &&
      last.leftOut !== undefined &&
      warning('bad', 'Some policy files are refused. The gateway does not serve their APIs.'),
    last?.outcome === 'failed' && warning('bad', 'The reload failed. The log has the reason.'),
    last?.restartNeeded && warning('near', 'The gateway file has changed. Restart the gateway to apply it.'),
    section(
      'Last reload',
      lastReload(last, config),
      session.signedIn ? reloadButton(again) : signInNote('reload the policies'),
    ),
    (last?.problems.length ?? 0) > 0 && section('Problems', problems(last)),
    section('Files in force', ...documents(config.documents)),
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
    accepted: ['good', 'accepted'],
    unchanged: ['good', 'unchanged'],
    rejected: ['bad', 'rejected'],
    failed: ['bad', 'failed'],
  };
  const [kind, text] = words[last?.outcome] ?? ['calm', 'no reload yet'];
  return facts([
    ['Outcome', badge(kind, text)],
    ['Read at', last !== null && instant(last.at)],
    ['In force since', last !== null && instant(last.since)],
    ['Revision', h('code', {}, revision)],
  ]);
}

/** @param {any} last */
function problems({ problems: all }) {
  const says = (/** @type {any} */ { message, hint }) =>
    hint === undefined ? message : `${message} (${hint})`;
  return listTable({
    ...{
      key: 'problems',
      name: 'problems',
      caption: 'Problems',
      rows: all,
      empty: '',
    },
    heads: ['Place', 'Severity', 'Problem'],
    find: (each) => `${each.file} ${says(each)}`,
    filters: { Severity: ({ severity }) => severity },
    sorts: { Place: ({ file }) => file, Severity: ({ severity }) => severity },
    cells: (each) => [
      h('code', {}, `${each.file}:${each.line}:${each.column}`),
      badge(each.severity === 'error' ? 'bad' : 'near', each.severity),
      says(each),
    ],
  });
}

/** @param {readonly any[]} all */
function documents(all) {
  const { shown, bar, foot } = listing({ key: '', name: 'files', rows: all, find: ({ file }) => file });
  return [bar, ...shown.map(documentBox), foot];
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
  const message = h('p', { role: 'status', class: 'note' });
  const button = h('button', { type: 'button' }, 'Reload policies');
  let busy = false;
  button.addEventListener('click', async () => {
    if (busy) return;
    busy = true;
    message.textContent = 'Reloading …';
    try {
      const { outcome } = await ask('/-/reload', { method: 'POST', body: {} });
      message.textContent = `Done: ${outcome}.`;
    } catch (error) {
      message.textContent = error instanceof Error ? error.message : String(error);
    }
    busy = false;
    again();
  });
  return h('div', { 'data-own': true, 'data-key': 'reload' }, button, message);
}
