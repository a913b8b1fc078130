// Builds what the upstream receives for a judged request: one path, one version (VER-9).
import type { ApiPlan, GatewayPlan, IdentityHeaders, UpstreamPlan, VersionRules } from '../../plan/plan.ts';
import type { Consumer } from '../../policy/authentication/access.ts';
import { plainAccept, wantedTemplate } from '../../policy/versioning/accept.ts';
import { parseMediaType, plainType, versionIn } from '../../policy/versioning/media-type.ts';
import { misspeltContent } from '../../policy/versioning/misspelt-type.ts';
import { withoutParameter, withParameterFirst } from '../../policy/versioning/query.ts';
import type { Label, ResolutionRules } from '../../policy/versioning/resolution.ts';
import { type ClientPlace, clientBasePathOf, innerPlaceOf } from '../addresses/client-place.ts';
import { type Directive, Fault, type ForwardOrder } from '../directive.ts';
import type { RequestView } from '../request-view.ts';
import type { NoticeOrder } from './body-notice.ts';
import type { JudgedRules } from './judged-rules.ts';

/**
 * `tail` and the query without the version are forwarded byte for byte (ORD-2).
 * @throws Fault `internal` if the version has no upstream
 */
export function forwardOrder(
  api: ApiPlan,
  version: VersionRules,
  tail: string,
  view: Pick<RequestView, 'path' | 'search' | 'host' | 'headers'>,
  publicOrigin: GatewayPlan['public'],
  noticed?: NoticeOrder,
  consumer?: Consumer,
): Extract<Directive, { kind: 'forward' }> {
  const { upstream, label } = version;
  const { search, headers } = view;
  if (upstream === undefined) {
    throw new Fault('internal', { cause: new Error(`${api.name} ${label} is served without an upstream`) });
  }
  const path = upstream.path + tail;
  const target = (path === '' ? '/' : path) + upstreamSearch(api.resolution, upstream, label, search);
  const types =
    api.resolution.mediaTypes.length === 0 ? undefined : plainTypes(api.resolution, label, headers);
  const { query } = api.resolution;
  const inside: ClientPlace['inside'] = api.inside?.has(label)
    ? (path) => innerPlaceOf(api, label, path)
    : undefined;
  const order: ForwardOrder = {
    upstream,
    target,
    label,
    replaceHeaders: types,
    setHeaders: upstream.identityHeaders && consumer && identityFields(upstream.identityHeaders, consumer),
    headerRules: api.headers,
    maxBody: version.maxBody,
    clientPlace: api.locations === 'map' ? { view, tail, query, public: publicOrigin, inside } : undefined,
    answerForm: types && api.rewriteContentType ? answerForm(api.resolution, label, headers) : undefined,
  };
  const prefixed = api.locations === 'prefix' ? underPrefix(order, clientBasePathOf({ view, tail })) : order;
  return { kind: 'forward', forward: noticed === undefined ? prefixed : underNotice(prefixed, noticed) };
}

/**
 * The first rules, with the smallest body limit and the strictest idempotency rule for `method` of all rules.
 */
export function strictest(
  [own, ...others]: readonly [JudgedRules, ...JudgedRules[]],
  method: string,
): VersionRules {
  if (others.length === 0) return own.version;
  const each = [own, ...others].map(({ version }) => version);
  const keys = each.flatMap(({ idempotency }) => (idempotency?.methods.has(method) ? [idempotency] : []));
  return {
    ...own.version,
    maxBody: Math.min(...each.map(({ maxBody }) => maxBody)),
    idempotency: keys.find(({ required }) => required) ?? keys[0],
  };
}

function underPrefix(order: ForwardOrder, prefix: string): ForwardOrder {
  if (prefix === '') return order;
  return { ...order, setHeaders: { ...order.setHeaders, 'x-forwarded-prefix': prefix } };
}

/** XFF-1: the gateway writes these fields for a known consumer. The client's copies are not forwarded. */
function identityFields(
  { consumer: id, scopes }: IdentityHeaders,
  consumer: Consumer,
): NonNullable<ForwardOrder['setHeaders']> {
  return {
    ...(id !== undefined && { [id]: visible(consumer.id) }),
    ...(scopes !== undefined && { [scopes]: [...consumer.scopes].map(visible).join(' ') }),
  };
}

/** Percent-encodes everything except visible ASCII, and the percent sign. */
function visible(text: string): string {
  return text.replace(/[^\x21-\x24\x26-\x7e]/gu, (character) =>
    character.isWellFormed() ? encodeURIComponent(character) : '%EF%BF%BD',
  );
}

/**
 * BODY-3: if the response may be edited, the upstream is asked for identity coding, whatever the client
 * accepts.
 */
function underNotice(order: ForwardOrder, { notice, conditions }: NoticeOrder): ForwardOrder {
  const replaceHeaders = { ...order.replaceHeaders, ...conditions?.replace };
  if (notice === undefined) return { ...order, replaceHeaders };
  return {
    ...order,
    replaceHeaders: { ...replaceHeaders, 'accept-encoding': undefined },
    setHeaders: { ...order.setHeaders, 'accept-encoding': 'identity' },
    notice,
  };
}

export function searchWithoutVersion({ query }: Pick<ResolutionRules, 'query'>, search: string): string {
  return query === undefined ? search : withoutParameter(search, query);
}

/** VER-8: removes the client's version parameter, and one that the upstream would read as the gateway's. */
function upstreamSearch(
  { query }: ResolutionRules,
  { versionQuery }: UpstreamPlan,
  label: Label,
  search: string,
): string {
  const own = searchWithoutVersion({ query }, search);
  if (versionQuery === undefined) return own;
  return withParameterFirst(withoutParameter(own, versionQuery), versionQuery, label);
}

function answerForm(
  { mediaTypes, candidates }: ResolutionRules,
  label: Label,
  headers: RequestView['headers'],
): ForwardOrder['answerForm'] {
  const sent = headers.get('accept');
  return sent === undefined
    ? undefined
    : wantedTemplate(mediaTypes, sent, ({ value }) => candidates(value).includes(label));
}

/**
 * Accept and Content-Type without the version. An undefined field is removed: no type is left, or it is
 * misspelt.
 */
function plainTypes(
  { mediaTypes, candidates }: ResolutionRules,
  label: Label,
  headers: RequestView['headers'],
): NonNullable<ForwardOrder['replaceHeaders']> {
  const replace: Record<string, string | undefined> = {};
  const sent = headers.get('accept');
  if (sent !== undefined)
    replace.accept = plainAccept(mediaTypes, sent, ({ value }) => candidates(value).includes(label));
  const type = headers.get('content-type');
  const media = type === undefined ? undefined : parseMediaType(type);
  const isMisspelt =
    type !== undefined && media !== undefined && misspeltContent(mediaTypes, media, type) !== undefined;
  if (isMisspelt) replace['content-type'] = undefined;
  else if (media !== undefined && versionIn(mediaTypes, media) !== undefined)
    replace['content-type'] = plainType(mediaTypes, media);
  return replace;
}
