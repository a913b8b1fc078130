// Buttons that replay one delivery or the dead letters of a subscription, for signed-in operators.
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
  if (!session.signedIn) return signInNote('replay dead letters');
  if (disabled !== null)
    return note('Dead letters can be replayed after the owner has enabled the subscription.');
  // Closed at first, so that a wrong click replays nothing.
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
  const message = h('span', { role: 'status', class: 'note' });
  const button = h('button', { type: 'button' }, label);
  button.addEventListener('click', async () => {
    message.textContent = 'Sending …';
    try {
      const path = `/-/webhooks/${encodeURIComponent(subscription)}/replay`;
      const { replayed, left } = await ask(path, { method: 'POST', body: what });
      message.textContent = `${counted(replayed, 'delivery', 'deliveries')} due again${left > 0 ? `, ${left} left` : ''}.`;
    } catch (error) {
      message.textContent = error instanceof Error ? error.message : String(error);
    }
    again();
  });
  return h('div', { 'data-own': true, 'data-key': key }, button, ' ', message);
}
