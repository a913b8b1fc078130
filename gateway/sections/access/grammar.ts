// The grammar of `access` and `shared`.
import { z } from 'zod';
import { scope } from '../../policy/authentication/scope.ts';

/** `any` admits every known caller. An empty list is refused, because it could also mean that no caller is admitted. */
const scopeList = (description: string) =>
  z
    .union([z.literal('any').transform((): readonly string[] => []), z.array(scope).min(1)])
    .meta({ description });

const scopesByUse = z.strictObject({
  read: scopeList(
    'Scopes needed for GET, HEAD and OPTIONS, or any; without it these methods are refused.',
  ).optional(),
  write: scopeList(
    'Scopes needed for every other method, or any; without it these methods are refused.',
  ).optional(),
});

/** A missing use is granted to no caller. */
const scopes = z
  .union([
    z.literal('any').transform(() => ({ read: [], write: [] }) as z.output<typeof scopesByUse>),
    scopesByUse,
  ])
  .meta({
    description: 'Scopes that a caller must have, for reads and writes; any: every known caller may call.',
  });

const identityNames = z.union([z.string(), z.array(z.string()).min(1)]).meta({
  description: 'Name of an identity in gateway.yaml, or several in the order in which they are tried.',
  examples: ['main'],
});

const anonymous = (otherwise: string) =>
  z.boolean().meta({
    description: `Whether a request without credentials passes if no scope is needed; ${otherwise}.`,
  });

export const accessSection = z
  .union([
    z.literal('public'),
    z.strictObject({ identity: identityNames, anonymous: anonymous('default false').optional(), scopes }),
  ])
  .meta({ description: 'Who may call: public, or consumers of an identity.' });

/** May have its own identity even in a public API. */
export const versionAccessSection = z
  .union([
    z.literal('public'),
    z.strictObject({
      identity: identityNames.optional(),
      anonymous: anonymous('default: as the API says').optional(),
      scopes,
    }),
  ])
  .meta({
    description: 'Who may call this version; default: as in the API, also for each missing key.',
  });

export const operationAccessSection = z
  .union([
    z.literal('public'),
    z.strictObject({
      scopes: scopeList('Scopes needed for this operation; any: every known caller may call.'),
    }),
  ])
  .meta({ description: 'Who may call this operation; default: as its version says.' });

/** CACHE-3: shared caches must not store responses that depend on the caller, unless this permits it. */
export const sharedSection = z.boolean().meta({
  description:
    'Whether shared caches may store responses to identified callers and serve them to others; default false.',
});
