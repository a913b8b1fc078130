// Builds request cases with their expected outcomes from id, rules (separated by spaces), title and octets.
import type { RequestCase } from '../wire-case.ts';

type Row = (
  id: string,
  rules: string,
  title: string,
  send: RequestCase['send'],
  more?: Partial<RequestCase>,
) => RequestCase;

/**
 * Must not be forwarded. Passes if refused with 400 (or the status of the row) and closed, or closed without a response.
 */
export const refused: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['refused', 'closed'],
  status: [400],
  ...more,
});

/** A valid request, perhaps unusual, which must be forwarded. A refusal counts as lax. */
export const served: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['forwarded'],
  lax: ['refused'],
  ...more,
});

/** Passes if refused, closed without a response, or forwarded as an unambiguous message. */
export const either: Row = (id, rules, title, send, more) => ({
  id,
  rules: rules.split(' '),
  title,
  send,
  pass: ['refused', 'closed', 'forwarded'],
  ...more,
});
