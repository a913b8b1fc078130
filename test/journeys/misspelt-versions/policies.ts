// Random policies: the carriers of an API, their names, and its versions.
import fc from 'fast-check';

export interface DrawnPolicy {
  /** Where `{version}` is in the path: before the API's name, below its base, or nowhere. */
  readonly path: 'before' | 'below' | undefined;
  readonly subdomain: boolean;
  readonly header: string | undefined;
  readonly query: string | undefined;
  readonly named: { readonly before: string; readonly after: string } | undefined;
  /** The parameter of the media type that carries the version. */
  readonly parameter: string | undefined;
  readonly labels: readonly string[];
  readonly default: string;
}

const maybe = (...values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

export const drawnPolicy: fc.Arbitrary<DrawnPolicy> = fc
  .record({
    path: fc.constantFrom('before', 'below', undefined),
    subdomain: fc.boolean(),
    header: maybe('API-Version', 'X-Edition'),
    query: maybe('version', 'api_version', 'v'),
    named: fc.constantFrom(
      { before: 'application/vnd.acme.', after: '+json' },
      { before: 'application/vnd.acme-', after: '+xml' },
      undefined,
    ),
    parameter: maybe('version', 'v'),
    labels: fc.constantFrom(['v1', 'v2'], ['v1', 'v2.0.0', 'v2.1.0'], ['2025-03-01', '2026-06-01']),
    newest: fc.boolean(),
  })
  .map(({ newest, ...drawn }) => ({
    ...drawn,
    // A full version has dots, which a label of a host name cannot contain.
    subdomain: drawn.subdomain && !drawn.labels.some((label) => label.includes('.')),
    default: drawn.labels.at(newest ? -1 : 0) ?? '',
  }))
  .filter(
    ({ path, subdomain, header, query, named, parameter }) =>
      subdomain || [path, header, query, named, parameter].some((each) => each !== undefined),
  );

/** The policy as a file. `api`: its name and the last segment of its base. */
export function written(api: string, drawn: DrawnPolicy): string {
  const { path, subdomain, header, query, named, parameter, labels } = drawn;
  const carriers = [
    path && { path: path === 'before' ? `/api/{version}/${api}` : `/api/${api}/{version}` },
    subdomain && { subdomain: `{version}.${api}.example.com` },
    header && { header },
    query && { query },
    named && { media_type: `${named.before}{version}${named.after}` },
    parameter && { media_type: `application/vnd.acme+json; ${parameter}={version}` },
    { default: drawn.default },
  ].filter((each) => each !== undefined && each !== false && each !== '');
  const each = (value: unknown) => Object.fromEntries(labels.map((label) => [label, value]));
  return JSON.stringify({
    api,
    // The upstream gets the version in the query, because a header could be a carrier of this API.
    base: `/api/${api}`,
    resolve: carriers,
    access: 'public',
    upstreams: each({ targets: [`\${env:ECHO}`], path: '/echo', version_as: { query: 'served' } }),
    versions: each({ released: '2025-01-01' }),
  });
}
