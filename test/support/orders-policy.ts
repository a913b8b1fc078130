// The policy of an API with two versions, each with an upstream; tests write the `versions`.

interface OrdersPolicy {
  readonly resolve?: string;
  readonly access?: string;
  /** Whole lines, between `access` and `upstreams`. */
  readonly more?: string;
}

/** `versions`: whole lines, indented; they start at line nine if `more` is empty. */
export const ordersPolicy = (
  versions: string,
  {
    resolve = '[ { path: "/api/{version}/orders" } ]',
    access = '{ identity: main, scopes: any }',
    more = '',
  }: OrdersPolicy = {},
): string => `api: orders
base: /api/orders
resolve: ${resolve}
access: ${access}
${more}upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
${versions}`;
