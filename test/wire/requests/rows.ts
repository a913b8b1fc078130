// The expected ends of most request cases: id, rules (separated by spaces), title and octets.
import type { RequestCase } from '../wire-case.ts';

type Row = (
  id: string,
  rules: string,
  title: string,
  send: RequestCase['send'],
  more?: Partial<RequestCase>,
) => RequestCase;

/** Must not be forwarded: 400 or the status of the row, and the connection closes. */
export const refused: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['refused', 'closed'],
  status: [400],
  ...more,
});

/** A valid, perhaps unusual request, which must arrive. */
export const served: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['forwarded'],
  lax: ['refused'],
  ...more,
});

/** Both ends are right, if the forwarded message is unambiguous. */
export const either: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['refused', 'closed', 'forwarded'],
  ...more,
});
