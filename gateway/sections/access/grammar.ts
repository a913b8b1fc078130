// The grammar of `access` and `shared`.
import { z } from 'zod';
import { scope } from '../../policy/authentication/scope.ts';

/** `any` admits every known caller. An empty list is refused, because it could also mean that no caller is admitted. */
const scopeList = (description: string) =>
  z
    .union([z.literal('any').transform((): readonly string[] => []), z.array(scope).min(1)])
    .meta({ description });

const scopesByUse = z.strictObject({
  read: scopeList('All needed for GET, HEAD and OPTIONS, or any; none may without it.').optional(),
  write: scopeList('All needed for every other method, or any; none may without it.').optional(),
});

/** A missing use is granted to no caller. */
const scopes = z
  .union([
    z.literal('any').transform(() => ({ read: [], write: [] }) as z.output<typeof scopesByUse>),
    scopesByUse,
  ])
  .meta({ description: 'Scopes that a caller must have, by what it does; any: none, whoever is known may.' });

const identityNames = z.union([z.string(), z.array(z.string()).min(1)]).meta({
  description: 'Name of an identity in gateway.yaml, or several in the order they are asked.',
  examples: ['main'],
});

const anonymous = (otherwise: string) =>
  z.boolean().meta({
    description: `Whether a request without any credential passes where no scope is needed; ${otherwise}.`,
  });

export const accessSection = z
  .union([
    z.literal('public'),
    z.strictObject({ identity: identityNames, anonymous: anonymous('default false').optional(), scopes }),
  ])
  .meta({ description: 'Who may call: public, or who is known to an identity.' });

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
    description: 'Who may call this version; default: as the API says, also for each member left out.',
  });

export const operationAccessSection = z
  .union([
    z.literal('public'),
    z.strictObject({ scopes: scopeList('All needed for this operation; any: whoever is known may.') }),
  ])
  .meta({ description: 'Who may call this operation; default: as its version says.' });

/** CACHE-3. */
export const sharedSection = z.boolean().meta({
  description:
    'Whether shared caches may keep answers to identified callers, and give them to others; default false.',
});
