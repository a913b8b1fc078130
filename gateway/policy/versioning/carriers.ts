// The table of carriers: where a request may name its version, and what decides if it names none.

interface CarrierRow {
  /** Status for a version that does not exist (STAT-1). */
  readonly unknownStatus: 400 | 404 | 406 | 415;
  /** The name in messages to clients, if it differs from the key. */
  readonly title?: string;
  /** In a URL the `v` is part of the version (VER-1), and a redirect replaces the version (RET-5). */
  readonly inUrl?: true;
  /** An entry of `resolve` has this key, with the name of a field or parameter as its value. */
  readonly isNamed?: true;
  /** The request header that carries the version, for Vary (CACHE-2). */
  readonly headerOf?: (name: string) => string;
}

/** In the order of the labels on the metrics page. */
const TABLE = {
  path: { unknownStatus: 404, inUrl: true },
  subdomain: { unknownStatus: 404, inUrl: true },
  header: { unknownStatus: 400, isNamed: true, headerOf: (name) => name },
  query: { unknownStatus: 400, isNamed: true },
  accept: { unknownStatus: 406, title: 'Accept header' },
  content_type: { unknownStatus: 415, title: 'Content-Type header' },
  pin: { unknownStatus: 400, title: 'pin of this account' },
  default: { unknownStatus: 400 },
  unversioned: { unknownStatus: 400 },
} as const satisfies Readonly<Record<string, CarrierRow>>;

export type Carrier = keyof typeof TABLE;

export type NamedCarrier = {
  readonly [K in Carrier]: (typeof TABLE)[K] extends { readonly isNamed: true } ? K : never;
}[Carrier];

export type CarrierNames = { readonly [K in NamedCarrier]?: string | undefined };

export const CARRIERS: Readonly<Record<Carrier, CarrierRow>> = TABLE;
export const CARRIER_KEYS = Object.keys(TABLE) as readonly Carrier[];
export const NAMED_CARRIERS = CARRIER_KEYS.filter(
  (each): each is NamedCarrier => CARRIERS[each].isNamed === true,
);

export function namesBy(nameOf: (carrier: NamedCarrier) => string | undefined): CarrierNames {
  const names: { [K in NamedCarrier]?: string | undefined } = {};
  for (const each of NAMED_CARRIERS) names[each] = nameOf(each);
  return names;
}
