// Header lines that every response gets, from the gateway or an upstream: lifecycle, quota, Vary, request id, HSTS.
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import { linkValue } from '../../policy/lifecycle/links.ts';
import { dropMalformed, mergeUpstreamSignals } from '../../policy/lifecycle/upstream-signal.ts';
import { quotaLines, renameUpstreamPolicies } from '../../policy/rate-limit/quota-headers.ts';
import { type HeaderLines, mergeVary } from '../answer-headers.ts';
import type { Decision, ExchangeFacts } from '../facts.ts';
import { catalogLink } from '../publish/catalog.ts';
import { isKnownHost } from '../publish/reserved.ts';
import type { RequestGlimpse } from '../request-view.ts';
import { setCorsFields } from '../steps/cors.ts';
import { echoVersion } from './echo.ts';
import { dependsOnCaller, keepPrivate } from './shareability.ts';

/**
 * Edits header lines in place. Lifecycle fields with one value replace the upstream's, unless the policy lets a valid
 * one of the upstream stay (DEP-2, SUN-3). Lists are appended to (LNK-1, WARN-4, CACHE-2). `hsts`: the
 * Strict-Transport-Security value for TLS responses (TLS-6).
 */
export function decorate(
  headers: HeaderLines,
  facts: ExchangeFacts,
  glimpse: RequestGlimpse,
  hsts: string | undefined,
): void {
  const { start, decision, completion } = facts;
  const { phase, quotas, api, version } = decision;
  const signalled = headers.has(FIELD.lifecycle);
  if (signalled) dropMalformed(headers);
  if (phase !== undefined) {
    const signals = signalled && api?.upstreamWins === true ? mergeUpstreamSignals(phase, headers) : phase;
    if ('dropped' in signals) for (const name of signals.dropped) headers.remove(name);
    headers.write(signals.replace, FIELD.lifecycle);
    const isLinked = phase.links !== '' || phase.linksSuccessor;
    const link = isLinked ? linkValue(phase, decision.successor.replacement) : undefined;
    if (link !== undefined) headers.append('link', link, FIELD.list);
    if (decision.relatedLinks !== undefined) headers.append('link', decision.relatedLinks, FIELD.list);
    if (signals.warning !== undefined) headers.append('warning', signals.warning, FIELD.list);
  }
  if (linksCatalog(facts, glimpse)) headers.append('link', catalogLink(start.plan), FIELD.list);
  if (quotas !== undefined) {
    if (headers.has(FIELD.quota)) separateUpstreamQuota(headers, decision);
    const lines = quotaLines(quotas);
    headers.write(lines.replace, FIELD.quota);
    for (const [name, value] of lines.append) headers.append(name, value, FIELD.quota);
  }
  // Clients would read the upstream's header as the gateway's (IDM-3).
  if (version?.idempotency !== undefined && completion.idempotency !== 'replayed')
    headers.set('idempotency-replayed', undefined, FIELD.own);
  if (api !== undefined) {
    const { vary } = version ?? api;
    const isFirst = api.versionFields.length > 0;
    if (isFirst) mergeVary(headers, vary);
    if (api.echo) echoVersion(headers, decision);
    if (api.cors !== undefined) setCorsFields(headers, api.cors, api.echo, glimpse);
    if (!isFirst && vary !== '') mergeVary(headers, vary);
  }
  if (decision.perAccount || dependsOnCaller(decision) || isForCaller(decision)) keepPrivate(headers);
  headers.set('x-request-id', start.requestId, FIELD.own);
  // Only TLS responses carry it. The upstream's copy is removed (TLS-6).
  headers.set('strict-transport-security', glimpse.scheme === 'https' ? hsts : undefined, FIELD.own);
}

/** RL-5: applies also if the gateway has no numbers, because clients would read the upstream's as the gateway's. */
function separateUpstreamQuota(headers: HeaderLines, { version }: Decision): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    headers.remove(name);
  if (version?.limits === undefined) return;
  for (const name of ['ratelimit-policy', 'ratelimit']) {
    const theirs = headers.get(name);
    if (theirs !== undefined) headers.set(name, renameUpstreamPolicies(theirs, version.limits));
  }
}

/** RFC 9727 §3: responses for `/` and for unknown routes link to the catalog. */
function linksCatalog({ start, completion }: ExchangeFacts, { path, host }: RequestGlimpse): boolean {
  if (completion.refusal === 'route_unknown') return true;
  return path === '/' && host !== undefined && isKnownHost(start.plan, host);
}

/** CACHE-3: a response to an identified caller is private, unless the API sets `shared: true`. */
function isForCaller({ consumer, api }: Decision): boolean {
  return consumer !== undefined && api?.shared !== true;
}
