// The three ways in which most request cases may end, so that the tables need not repeat them.
// A row names the case, its rules (with spaces between), what it is about, and its bytes.
import type { RequestCase } from '../wire-case.ts';

type Row = (
  id: string,
  rules: string,
  title: string,
  send: RequestCase['send'],
  more?: Partial<RequestCase>,
) => RequestCase;

/** Not to be forwarded: 400 unless the row says another status, and the end of the connection. */
export const refused: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['refused', 'closed'],
  status: [400],
  ...more,
});

/** A good request, however odd: it must arrive. */
export const served: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['forwarded'],
  lax: ['refused'],
  ...more,
});

/** Both are right; what counts is that nobody downstream can read it otherwise. */
export const either: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['refused', 'closed', 'forwarded'],
  ...more,
});
