// The routes of an API that is left out.
// They are closed, so that no other API answers there by its own rules.
import type { PolicyView } from './check/views.ts';
import { type PolicyFile, policyPartsGrammar } from './grammar/policy-grammar.ts';
import type { ReadPiece } from './pieces.ts';
import { digest } from './read/files.ts';
import { valueAt } from './read/values.ts';

const ROUTE_KEYS = ['host', 'base', 'resolve'] as const;

/** A piece of a plan with the well-formed routes of a file and nothing else; undefined if there are none. */
export function closedRoutes({ parts }: PolicyView, name: string): ReadPiece | undefined {
  const { host, resolve, versions } = parts;
  const base = parts.base ?? resolve?.find(({ path }) => path !== undefined)?.path;
  if (base === undefined) return undefined;
  const file: PolicyFile = {
    api: name,
    base,
    ...(host !== undefined && { host }),
    ...(resolve !== undefined && { resolve }),
    access: 'public',
    versions: resolve === undefined || versions === 'none' ? 'none' : {},
    isLeftOut: true,
  };
  return { digest: digest([JSON.stringify(file)]), files: [], file };
}

/** Whether the file is read well enough to know every route of its API. */
export function statesRoutes({ document, parts }: PolicyView): boolean {
  // Of a file that was cut short, the lines that say where its versions are may be missing.
  const isWhole = parts.versions === 'none' || parts.resolve !== undefined;
  if (parts.base === undefined || !isWhole) return false;
  return ROUTE_KEYS.every((key) => {
    if (document.repeated.has(key)) return false;
    const given = valueAt(document.value, [key]);
    // Of a list, entries that are not well formed were taken out.
    if (Array.isArray(given) && document.has([key, given.length])) return false;
    // A value with a missing variable is written and has no value.
    return given === undefined
      ? !document.has([key])
      : policyPartsGrammar.shape[key].safeParse(given).success;
  });
}
