// The routes of an API that is left out of the plan.

import { type PolicyFile, policyPartsGrammar } from '../../sections/policy-file.ts';
import type { PolicyView } from '../../sections/view.ts';
import type { Problem } from '../problems.ts';
import { digest } from '../read/files.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { ReadPiece } from '../reload/pieces.ts';

const ROUTE_KEYS = ['host', 'base', 'resolve'] as const;

/** The well-formed routes of a file as a piece of a plan, without any other rules. Undefined if there are none. */
export function closedRoutes({ parts }: PolicyView, name: string): ReadPiece | undefined {
  const { host, resolve } = parts;
  const base = parts.base ?? resolve?.find(({ path }) => path !== undefined)?.path;
  if (base === undefined) return undefined;
  const file: PolicyFile = {
    api: name,
    base,
    ...(host !== undefined && { host }),
    ...(resolve !== undefined && { resolve }),
    access: 'public',
    // Closes requests at the base too: the file may lack a carrier that leads there.
    versions: 'none',
    isLeftOut: true,
  };
  return { digest: digest([JSON.stringify(file)]), files: [], file };
}

const SHAPE_RULES: ReadonlySet<string> = new Set(['shape', 'custom', 'unknown-key', 'wrong-file']);

/** Whether the file states all its routes. If not, it may be truncated, or have its host under another key. */
export function statesRoutes(view: PolicyView, problems: readonly Problem[]): boolean {
  const { document, parts } = view;
  const lastKey = keysOf(document.value).at(-1);
  return (
    hasReadableRoutes(view) &&
    document.has(['versions']) &&
    !ROUTE_KEYS.some((key) => key === lastKey) &&
    (parts.host !== undefined || !problems.some(({ rule }) => SHAPE_RULES.has(rule)))
  );
}

/** Whether the base, the hosts and the carriers of an API with versions are present and well formed. */
export function hasReadableRoutes({ document, parts }: PolicyView): boolean {
  if (parts.base === undefined || (parts.versions !== 'none' && parts.resolve === undefined)) return false;
  return ROUTE_KEYS.every((key) => {
    if (document.repeated.has(key)) return false;
    const given = valueAt(document.value, [key]);
    // Parsing dropped malformed entries of the list.
    if (Array.isArray(given) && document.has([key, given.length])) return false;
    // A value with a missing variable has a position but no value.
    return given === undefined
      ? !document.has([key])
      : policyPartsGrammar.shape[key].safeParse(given).success;
  });
}
