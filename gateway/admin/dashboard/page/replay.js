// Delivering again, for whoever has signed in: one delivery, or the dead letters of a subscription.
// Part of the page of webhooks; what may be replayed is decided by the webhooks service.
import { ask } from './ask.js';
import { h } from './elements.js';
import { note, signInNote } from './parts.js';
import { counted } from './words.js';

/** @param {string} subscription @param {any} delivery @param {() => void} again */
export function replayForm(subscription, { delivery }, again) {
  return replayButton('Replay', subscription, { delivery }, again, `replay ${delivery}`);
}

/** @param {any} known @param {{ signedIn: boolean }} session @param {() => void} again */
export function replayDeadForm({ subscription, dead, disabled }, session, again) {
  if (!session.signedIn) return signInNote('replay its dead letters');
  if (disabled !== null) return note('Its dead letters can be replayed once its owner has enabled it.');
  // Many at once: closed until it is meant.
  return h(
    'details',
    { 'data-key': 'dead' },
    h('summary', {}, `Replay ${counted(dead, 'dead letter')}`),
    replayButton('Replay them now', subscription, {}, again, 'replay dead'),
  );
}

/**
 * @param {string} label
 * @param {string} subscription
 * @param {Readonly<Record<string, string>>} what
 * @param {() => void} again
 * @param {string} key
 */
function replayButton(label, subscription, what, again, key) {
  const told = h('span', { role: 'status', class: 'note' });
  const button = h('button', { type: 'button' }, label);
  button.addEventListener('click', async () => {
    told.textContent = 'Asking …';
    try {
      const path = `/-/webhooks/${encodeURIComponent(subscription)}/replay`;
      const { replayed, left } = await ask(path, { method: 'POST', body: what });
      told.textContent = `${counted(replayed, 'delivery', 'deliveries')} due again${left > 0 ? `, ${left} left` : ''}.`;
    } catch (error) {
      told.textContent = error instanceof Error ? error.message : String(error);
    }
    again();
  });
  return h('div', { 'data-own': true, 'data-key': key }, button, ' ', told);
}
