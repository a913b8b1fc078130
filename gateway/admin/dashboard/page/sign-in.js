// Sign-in with the admin token, which starts a session by HttpOnly cookie, and sign-out.
import { ask } from './ask.js';
import { h } from './elements.js';
import { note } from './parts.js';

/**
 * @param {{ signedIn: boolean }} session
 * @param {() => void} onChange
 * @param {(error: unknown) => void} onTrouble
 */
export function whoBox({ signedIn }, onChange, onTrouble) {
  if (!signedIn) return h('a', { href: '#sign-in', class: 'button', 'data-key': 'in' }, 'Sign in');
  const button = h('button', { type: 'button', 'data-key': 'out' }, 'Sign out');
  button.addEventListener('click', async () => {
    try {
      await ask('/-/session', { method: 'DELETE' });
      onChange();
    } catch (error) {
      onTrouble(error);
    }
  });
  return button;
}

/**
 * @param {() => void} onDone
 * @param {{ optional: boolean }} how optional: with a button that closes the form
 */
export function signInForm(onDone, { optional }) {
  const field = /** @type {HTMLInputElement} */ (
    h('input', { id: 'token', type: 'password', autocomplete: 'current-password', required: true })
  );
  const message = h('p', { role: 'alert' });
  const form = h(
    'form',
    { id: 'sign-in', class: 'card', 'data-own': true, 'data-key': 'sign-in' },
    h('h2', {}, 'Sign in'),
    // Password managers need a user name.
    h('input', { type: 'text', autocomplete: 'username', value: 'admin', hidden: true }),
    h('label', { for: 'token' }, 'Admin token'),
    field,
    note('The value of listeners.admin.token, or of the file admin-token in the data folder.'),
    message,
    h('button', { type: 'submit' }, 'Sign in'),
    ' ',
    optional && h('a', { href: '#main', class: 'button' }, 'Not now'),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    message.textContent = '';
    try {
      await ask('/-/session', { method: 'POST', body: { token: field.value.trim() } });
      onDone();
    } catch (error) {
      message.textContent = error instanceof Error ? error.message : String(error);
      field.select();
    }
  });
  return form;
}
