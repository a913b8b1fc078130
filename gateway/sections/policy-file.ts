// The grammar of a policy file, composed of the grammars of its sections.
import { z } from 'zod';
import type { Guide } from '../plan/guides/guide-page.ts';
import type { VersionNotes } from '../plan/version-notes.ts';
import { orOff } from '../policy/notation.ts';
import {
  accessSection,
  operationAccessSection,
  sharedSection,
  versionAccessSection,
} from './access/grammar.ts';
import { bodyNoticeSection } from './body-notice/grammar.ts';
import { contactsSection } from './contacts/grammar.ts';
import { corsSection } from './cors/grammar.ts';
import { expectSection } from './expect/grammar.ts';
import { headersSection, maxBodySection } from './headers/grammar.ts';
import { idempotencySection, ownIdempotencySection } from './idempotency/grammar.ts';
import { costSection, limitsSection, versionLimitsSection } from './limits/grammar.ts';
import { linkFields } from './links/grammar.ts';
import { maintenanceSection } from './maintenance/grammar.ts';
import { openapiSection } from './openapi/grammar.ts';
import { resolveSection, rewriteContentTypeSection, unknownVersionStatusSection } from './resolve/grammar.ts';
import { baseSection, hostSection, locationsSection, nameSection, pathsSection } from './routes/grammar.ts';
import { audienceSection, rulesSection } from './rules/grammar.ts';
import { dateFields, endFields } from './schedule/grammar.ts';
import {
  deprecatedMaxAgeSection,
  deprecationHeaderSection,
  echoSection,
  modeSection,
  upstreamWinsSection,
  warningSection,
} from './signals/grammar.ts';
import { upstreamSection } from './upstreams/grammar.ts';

const operation = z.strictObject({
  ...dateFields.ofOperation,
  ...linkFields.ofOperation,
  ...endFields.ofOperation,
  access: operationAccessSection.optional(),
  limits: versionLimitsSection.optional(),
  cost: costSection.optional(),
  idempotency: ownIdempotencySection.optional(),
  body_notice: bodyNoticeSection.optional(),
  maintenance: orOff(maintenanceSection, null).optional(),
  max_body: maxBodySection.optional(),
});

const version = z.strictObject({
  ...dateFields.ofVersion,
  ...linkFields.ofVersion,
  ...endFields.ofVersion,
  openapi: openapiSection.optional(),
  access: versionAccessSection.optional(),
  limits: versionLimitsSection.optional(),
  idempotency: ownIdempotencySection.optional(),
  body_notice: bodyNoticeSection.optional(),
  maintenance: orOff(maintenanceSection, undefined).optional(),
  max_body: maxBodySection.optional(),
  operations: z
    .record(z.string(), operation)
    .meta({ description: 'Operations with rules of their own, by method and path below the base.' })
    .optional(),
});

const fields = {
  api: nameSection,
  audience: audienceSection.optional(),
  host: hostSection.optional(),
  base: baseSection,
  paths: pathsSection.optional(),
  locations: locationsSection.optional(),
  resolve: resolveSection.optional(),
  rewrite_content_type: rewriteContentTypeSection.optional(),
  unknown_version_status: unknownVersionStatusSection.optional(),
  access: accessSection,
  mode: modeSection.optional(),
  ...dateFields.ofApi,
  ...linkFields.ofApi,
  ...endFields.ofApi,
  maintenance: maintenanceSection.optional(),
  cors: corsSection.optional(),
  echo: echoSection.optional(),
  limits: limitsSection.optional(),
  idempotency: idempotencySection.optional(),
  headers: headersSection.optional(),
  max_body: maxBodySection.optional(),
  deprecation_header: deprecationHeaderSection.optional(),
  upstream_wins: upstreamWinsSection.optional(),
  deprecated_max_age: deprecatedMaxAgeSection.optional(),
  shared: sharedSection.optional(),
  warning: warningSection.optional(),
  contacts: contactsSection.optional(),
  rules: rulesSection.optional(),
  expect: expectSection.optional(),
};

const versionsMeta = { description: 'Every version by its label, or none for an unversioned API.' };
const upstreamsMeta = { description: 'The services, by the label of the version they serve.' };

export const policyGrammar = z.strictObject({
  ...fields,
  upstreams: z.record(z.string(), upstreamSection).meta(upstreamsMeta).optional(),
  versions: z.union([z.literal('none'), z.record(z.string(), version)]).meta(versionsMeta),
});

export const API_KEYS: readonly string[] = Object.keys(policyGrammar.shape);
export const VERSION_KEYS: readonly string[] = Object.keys(version.shape);

/** The same grammar with all keys optional, for files whose malformed parts were removed. */
export const policyPartsGrammar = z
  .strictObject({
    ...fields,
    upstreams: z.record(z.string(), upstreamSection.partial()),
    versions: z.union([z.literal('none'), z.record(z.string(), version.partial())]),
  })
  .partial();

/**
 * Three fields are not part of the file. `notes`: notes for callers from the OpenAPI descriptions, by label. `guides`: the
 * guides that are files. `isLeftOut`: the API is not served, its routes are only reserved.
 */
export type PolicyFile = z.output<typeof policyGrammar> & {
  readonly notes?: Readonly<Record<string, VersionNotes>>;
  readonly guides?: readonly Guide[];
  readonly isLeftOut?: boolean;
};
export type PolicyParts = z.output<typeof policyPartsGrammar>;
export type VersionFile = z.output<typeof version>;
export type OperationFile = z.output<typeof operation>;
export type VersionParts = { readonly [K in keyof VersionFile]?: VersionFile[K] | undefined };
export type UpstreamFile = z.output<typeof upstreamSection>;
