// The sections of a policy file, in the order in which a diff shows their differences.
import { checkAccess } from './access/check.ts';
import { accessOfOperation, accessOfVersion, compileAccess } from './access/compile.ts';
import { accessWords } from './access/words.ts';
import { checkContacts } from './contacts/check.ts';
import { corsWords } from './cors/words.ts';
import { checkHeaders } from './headers/check.ts';
import { compileHeaders, maxBodyOfOperation, maxBodyOfVersion } from './headers/compile.ts';
import { checkIdempotency } from './idempotency/check.ts';
import { idempotencyOfOperation, idempotencyOfVersion } from './idempotency/compile.ts';
import { idempotencyWords } from './idempotency/words.ts';
import { checkLimits } from './limits/check.ts';
import { limitsByDates } from './limits/compile.ts';
import { effectiveLimits } from './limits/effective.ts';
import { limitsWords } from './limits/words.ts';
import { checkLinks } from './links/check.ts';
import { checkMaintenance, endsOfMaintenance } from './maintenance/check.ts';
import { maintenanceOfOperation, maintenanceOfVersion } from './maintenance/compile.ts';
import { maintenanceWords } from './maintenance/words.ts';
import { notesOfOperation, notesOfVersion } from './openapi/compile.ts';
import { checkOperations } from './operations/check.ts';
import { checkResolve } from './resolve/check.ts';
import { compileResolve } from './resolve/compile.ts';
import { resolveWords } from './resolve/words.ts';
import { checkRoutes } from './routes/check.ts';
import { compileRoutes } from './routes/compile.ts';
import { routesWords } from './routes/words.ts';
import { rulesWords } from './rules/words.ts';
import { checkSchedule, releasesAndSunsets } from './schedule/check.ts';
import { endOfOperation, endOfVersion } from './schedule/compile.ts';
import { scheduleWords } from './schedule/words.ts';
import type { Section } from './section.ts';
import { compileSignals } from './signals/compile.ts';
import { checkUpstreams } from './upstreams/check.ts';
import { upstreamWords } from './upstreams/words.ts';
import { checkVersions } from './versions/check.ts';

const LIST = [
  { check: checkVersions },
  { check: checkOperations, leftAsWritten: ['operations'] },
  { check: checkRoutes, compileApi: compileRoutes, words: routesWords },
  {
    needsVersions: [['resolve'], ['rewrite_content_type'], ['unknown_version_status']],
    leftAsWritten: ['resolve'],
    check: checkResolve,
    compileApi: compileResolve,
    words: resolveWords,
  },
  {
    check: checkAccess,
    compileApi: compileAccess,
    compileVersion: accessOfVersion,
    compileOperation: accessOfOperation,
    words: accessWords,
  },
  {
    // A version with its own sunset inherits nothing that depends on the API's sunset: no extension, exception or brownout.
    inherited: {
      announced: ['announced', 'deprecated'],
      deprecated: ['deprecated'],
      sunset: ['sunset'],
      extended: ['extended', 'sunset'],
      retired: ['retired', 'sunset'],
      forgotten: ['forgotten', 'sunset'],
      exceptions: ['exceptions', 'sunset'],
      brownouts: ['brownouts', 'sunset'],
      freeze: ['freeze', 'deprecated', 'sunset'],
      retire_when: ['retire_when', 'sunset'],
    },
    check: checkSchedule,
    checkedAgainAt: releasesAndSunsets,
    compileVersion: endOfVersion,
    compileOperation: endOfOperation,
    words: scheduleWords,
  },
  {
    inherited: {
      alternate: ['alternate', 'successor', 'after.redirect'],
      guide: ['guide'],
      status: ['status'],
      service_doc: ['service_doc'],
      service_desc: ['service_desc'],
      reason: ['reason'],
    },
    mayBeOverridden: true,
    check: checkLinks,
  },
  {
    inherited: { maintenance: ['maintenance'] },
    check: checkMaintenance,
    checkedAgainAt: endsOfMaintenance,
    compileVersion: maintenanceOfVersion,
    compileOperation: maintenanceOfOperation,
    words: maintenanceWords,
  },
  {
    compileVersion: ({ version }) => ({ bodyNotice: version.body_notice ?? false }),
    compileOperation: ({ operation, rules }) => ({ bodyNotice: operation.body_notice ?? rules.bodyNotice }),
    words: { defaults: { ofVersion: { body_notice: false } } },
  },
  { compileApi: ({ cors }) => ({ cors: cors && { origins: new Set(cors.origins) } }), words: corsWords },
  {
    needsDeprecation: [['deprecation_header'], ['upstream_wins'], ['warning']],
    leftAsWritten: ['deprecation_header'],
    compileApi: compileSignals,
    // Without deprecation_header the gateway file decides.
    words: { defaults: { ofApi: { mode: 'enforce', echo: false, warning: true, upstream_wins: false } } },
  },
  {
    needsDeprecation: [['limits', 'deprecated']],
    check: checkLimits,
    compileDated: limitsByDates,
    effective: effectiveLimits,
    words: limitsWords,
  },
  {
    check: checkIdempotency,
    compileVersion: idempotencyOfVersion,
    compileOperation: idempotencyOfOperation,
    words: idempotencyWords,
  },
  {
    check: checkHeaders,
    compileApi: compileHeaders,
    compileVersion: maxBodyOfVersion,
    compileOperation: maxBodyOfOperation,
  },
  {
    check: checkContacts,
    compileApi: ({ contacts = {} }) => ({ contacts: new Map(Object.entries(contacts)) }),
  },
  { compileVersion: notesOfVersion, compileOperation: notesOfOperation },
  {
    check: checkUpstreams,
    alwaysInForce: ['timeout', 'connections', 'retries'],
    shorthands: { timeout: 'headers', health: 'path' },
    words: upstreamWords,
  },
  { alwaysInForce: ['rules'], words: rulesWords },
  // Expectations do not change the plan.
  { leftAsWritten: ['expect'], words: { ofApi: { expect: () => [] } } },
] as const satisfies readonly Section[];

export const SECTIONS: readonly Section[] = LIST;

/** Inherited keys, each with the version keys that stop its inheritance. */
export const INHERITED: Readonly<Record<string, readonly string[]>> = Object.assign(
  {},
  ...SECTIONS.map(({ inherited }) => inherited),
);

type Hook = 'compileApi' | 'compileVersion' | 'compileDated' | 'compileOperation';
type Listed = (typeof LIST)[number];
/** The compiled fields of all sections. If no section provides a field, the assembly of the plan does not type-check. */
type Compiled<K extends Hook> = Intersection<
  Listed extends infer S ? (S extends Record<K, (...given: never) => infer R> ? R : never) : never
>;
type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (each: infer I) => void
  ? I
  : never;

export function compiledBy<K extends Hook>(
  hook: K,
  ...given: Parameters<NonNullable<Section[K]>>
): Compiled<K> {
  const compile = (section: Section) =>
    (section[hook] as ((...input: readonly unknown[]) => object) | undefined)?.(...given);
  return Object.assign({}, ...SECTIONS.map(compile));
}
