// A service behind the gateway and a request to it, for tests of address mapping.
import { mapAnswer } from '../../gateway/exchange/addresses/answer-addresses.ts';
import { type AnswerHeaders, HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import type { ForwardOrder } from '../../gateway/exchange/directive.ts';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import { upstream } from '../support/exchange-samples.ts';

export const TARGET = 'http://10.0.0.7:4101';
export const PUBLIC = 'https://api.example.com';

export interface MappedService {
  readonly targets?: readonly string[];
  readonly host?: string;
  /** Path of the upstream. Default: /bookings. */
  readonly path?: string;
  /** The client's path before the tail. Default: /v1/bookings. */
  readonly client?: string;
  /** Default: /7. */
  readonly tail?: string;
  readonly search?: string;
  /** The query parameter with the version. */
  readonly query?: string;
  /** Host of the request. Default: api.example.com. */
  readonly asked?: string;
  readonly forwardedHost?: string;
  readonly public?: string;
}

export type MappedOrder = Pick<ForwardOrder, 'upstream' | 'target' | 'clientPlace'>;

/** One object per upstream, as in a plan. */
const upstreams = new Map<string, UpstreamPlan>();

export function orderOf(service: MappedService): MappedOrder {
  const { targets = [TARGET], host, path = '/bookings', client = '/v1/bookings', tail = '/7' } = service;
  const key = JSON.stringify([targets, host, path]);
  const made = { ...upstream, targets: targets.map((origin) => ({ origin })), host, path };
  const known = upstreams.get(key) ?? made;
  upstreams.set(key, known);
  return {
    upstream: known,
    target: path + tail || '/',
    clientPlace: {
      view: { path: client + tail, search: service.search ?? '', host: service.asked ?? 'api.example.com' },
      tail,
      query: service.query,
      public: service.public ?? PUBLIC,
    },
  };
}

/** The fields that the client gets, and the number of addresses outside. */
export function mapped(
  service: MappedService,
  headers: AnswerHeaders,
): { readonly headers: AnswerHeaders; readonly outside: number } {
  const given = new HeaderLines(headers);
  const { forwardedHost = 'api.example.com' } = service;
  const outside = mapAnswer(given, orderOf(service), forwardedHost);
  return { headers: given.record(), outside };
}
