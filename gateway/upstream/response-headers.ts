// The header section of an upstream's answer: judged, cleaned, and finished for the client.
import { mapAnswer } from '../exchange/addresses/answer-addresses.ts';
import { type AnswerHeaders, HeaderLines } from '../exchange/answer-headers.ts';
import { answerInKind } from '../exchange/answers/echo.ts';
import { isCacheControl } from '../exchange/answers/shareability.ts';
import { Fault } from '../exchange/directive.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { UpstreamPlan } from '../plan/plan.ts';
import { type AnswerFields, FIELD } from '../plan/upstreams/answer-fields.ts';
import type { Forwarded } from './attempts.ts';
import { appendVia, nominated } from './request-headers.ts';

/** Who has answered. */
export type Answering = Pick<UpstreamPlan, 'name' | 'answerFields'>;

/** An answer that has no content, whatever an upstream sends behind its head (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * The lines of an answer without what ends at this hop (FWD-3) and without a Content-Length that may not stand (SMG-23),
 * with the first of repeated singletons and with this hop in Via (FWD-6).
 * Throws `upstream_invalid` for a status or a framing that no client may be shown (SMG-22).
 */
export function cleanAnswer(status: number, answer: AnswerHeaders, upstream: Answering): HeaderLines {
  const { 'transfer-encoding': coding, 'content-length': length } = answer;
  // A coding undici does not undo would reach the client as if it were the content itself.
  const isCoded =
    coding !== undefined && (typeof coding !== 'string' || coding.trim().toLowerCase() !== 'chunked');
  const isMismeasured = length !== undefined && (typeof length !== 'string' || !/^\d+$/.test(length));
  if (status < 200 || status > 599 || isCoded || isMismeasured)
    throw new Fault('upstream_invalid', { service: upstream.name });
  const lines = cleanFields(answer, upstream);
  if (status === 204) lines.remove('content-length');
  // Unlike 204 it ends with its head only where that says so (RFC 9110 §15.3.6).
  if (status === 205) lines.set('content-length', '0');
  return lines;
}

/** What `cleanAnswer` does to the fields of any answer, for the one that is not judged as an answer: a 101. */
export function cleanFields(answer: AnswerHeaders, { answerFields }: Answering): HeaderLines {
  const named = nominated(answer.connection);
  const lines = new HeaderLines();
  for (const name in answer) {
    const kind = kindOf(name, answerFields);
    if ((kind & FIELD.dropped) !== 0 || named?.has(name)) continue;
    const value = answer[name];
    const kept = (kind & FIELD.singleton) !== 0 && typeof value === 'object' ? value[0] : value;
    if (kept !== undefined) lines.add(name, kept, kind);
  }
  // undici does not tell the version of an answer; upstreams are spoken to in HTTP/1.1 only.
  lines.set('via', appendVia(lines.get('via'), '1.1'), FIELD.via);
  return lines;
}

function kindOf(name: string, fields: AnswerFields): number {
  const kind = fields.get(name) ?? 0;
  return name !== 'cache-control' && isCacheControl(name) ? kind | FIELD.otherCaches : kind;
}

/** From an upstream's clean head to the client's: addresses, what the policy sets and removes, the media type, then ours. */
export function finishHead(
  { decorate }: Pick<Exchange, 'decorate'>,
  status: number,
  headers: HeaderLines,
  { inbound, order, facts }: Forwarded,
): void {
  const { headerRules, clientPlace, answerForm, label, upstream } = order;
  if (clientPlace !== undefined && headers.has(FIELD.address))
    facts.completion.addressesOutside += mapAnswer(headers, order, inbound.forwardedHost);
  if (headerRules !== undefined) {
    const { remove, set } = headerRules.response;
    if (headers.has(FIELD.edited)) for (const name of remove) headers.remove(name);
    for (const name in set) headers.set(name, set[name], kindOf(name, upstream.answerFields));
  }
  if (answerForm !== undefined) answerInKind(status, headers, answerForm, label);
  decorate(status, headers, facts, inbound.view);
}
