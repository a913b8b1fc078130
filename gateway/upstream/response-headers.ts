// The header section of an upstream's response: checked, cleaned, and completed for the client.
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

export type Answering = Pick<UpstreamPlan, 'name' | 'answerFields'>;

/** RFC 9110 §15.3.5, §15.3.6, §15.4.5. Also true if the upstream sends a body. */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * Removes hop-by-hop fields (FWD-3) and an invalid Content-Length (SMG-23), keeps the first of repeated single fields,
 * and adds this hop to Via (FWD-6).
 * @throws Fault `upstream_invalid` for a status or a framing that must not reach a client (SMG-22)
 */
export function cleanAnswer(status: number, answer: AnswerHeaders, upstream: Answering): HeaderLines {
  const { 'transfer-encoding': coding, 'content-length': length } = answer;
  // undici does not decode this coding, so it would reach the client as content.
  const isCoded =
    coding !== undefined && (typeof coding !== 'string' || coding.trim().toLowerCase() !== 'chunked');
  const isMismeasured = length !== undefined && (typeof length !== 'string' || !/^\d+$/.test(length));
  if (status < 200 || status > 599 || isCoded || isMismeasured)
    throw new Fault('upstream_invalid', { service: upstream.name });
  const lines = cleanFields(answer, upstream);
  if (status === 204) lines.remove('content-length');
  // Unlike a 204, it needs a Content-Length to end with its head (RFC 9110 §15.3.6).
  if (status === 205) lines.set('content-length', '0');
  return lines;
}

/** Cleans the fields of any response. A 101 needs no other check. */
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
  // undici does not report the version, and upstreams are called with HTTP/1.1 only.
  lines.set('via', appendVia(lines.get('via'), '1.1'), FIELD.via);
  return lines;
}

function kindOf(name: string, fields: AnswerFields): number {
  const kind = fields.get(name) ?? 0;
  return name !== 'cache-control' && isCacheControl(name) ? kind | FIELD.otherCaches : kind;
}

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
