// Whether the template of an operation begins where the API itself does: it would then match no request there is.
// Part of operations.ts; nothing else would ever tell, since such an operation is never asked for.
import { pathsOf } from '../api-routes.ts';
import type { PolicyParts } from '../grammar/policy-grammar.ts';

/**
 * How to write `name`, such as `GET /api/v2/orders/search`, below the base; undefined where it is. A base of one segment
 * may well stand below itself.
 */
export function belowBase(name: string, label: string, parts: PolicyParts): string | undefined {
  const [method = '', written = ''] = name.split(' ');
  const templates = pathsOf(parts).flatMap(({ path }) => [path, path.replace('{version}', label)]);
  const places = [...templates, ...(parts.base === undefined ? [] : [parts.base])];
  const place = places.find(
    (each) => /^\/.+\/./.test(each) && (written === each || written.startsWith(`${each}/`)),
  );
  return place === undefined ? undefined : `${method} ${written.slice(place.length) || '/'}`;
}
