// `check --live`: checks what the files refer to: targets, key sets, introspection, Redis, ends of certificates.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LoadedPlan } from '../../plan/load.ts';
import type { PolicySource } from '../../plan/load-documents.ts';
import type { Problem, Severity } from '../../plan/problems.ts';
import type { Path, SourceDocument } from '../../plan/read/document.ts';
import type { UnplacedFinding } from '../../plan/read/positions.ts';
import type { IdentitySettings } from '../../plan/settings.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';
import { askIntrospection, fetchKeySet } from './ask-issuer.ts';
import { type LiveAttempt, tryAll } from './live-attempts.ts';
import { pingRedis } from './ping-redis.ts';
import { reachTarget } from './reach-target.ts';

type LiveRule = 'live-target' | 'live-keys' | 'live-introspection' | 'live-store' | 'live-certificate';

interface LiveCheck {
  /** Checks with the same key share one attempt. */
  readonly key: string;
  readonly attempt: LiveAttempt;
  readonly document: SourceDocument;
  readonly path: Path;
  readonly rule: LiveRule;
  readonly what: string;
  /** Checks of one group are alternatives: if one succeeds, failures of the others are warnings. */
  readonly group: string;
}

/** `today`: the real clock. Takes about ten seconds at most. */
export async function liveProblems(
  { settings, sources }: Pick<LoadedPlan, 'settings' | 'sources'>,
  today: EpochMs,
): Promise<readonly Problem[]> {
  const checks = [...settingsChecks(settings, sources.gateway), ...sources.policies.flatMap(targetChecks)];
  const outcomes = await tryAll(new Map(checks.map(({ key, attempt }) => [key, attempt])));
  const succeeded = new Set(
    checks.filter(({ key }) => outcomes.get(key) === undefined).map(({ group }) => group),
  );
  const failures = checks.flatMap((each): readonly Problem[] => {
    const why = outcomes.get(each.key);
    return why === undefined ? [] : [problemOf(each, why, succeeded.has(each.group) ? 'warning' : 'error')];
  });
  return [...failures, ...certificateProblems(settings, sources, today)];
}

function problemOf({ document, path, rule, what }: LiveCheck, why: string, severity: Severity): Problem {
  return document.problem(path, { rule, severity, message: `${what}: ${why}` });
}

function settingsChecks(
  { store, identities }: LoadedPlan['settings'],
  gateway: SourceDocument,
): readonly LiveCheck[] {
  const issuers = identities.flatMap((identity) => identityChecks(identity, gateway));
  if (store.kind === 'embedded') return issuers;
  const { url } = store;
  const redis: LiveCheck = {
    key: `redis ${url}`,
    attempt: (bounds) => pingRedis(url, bounds),
    document: gateway,
    path: ['store'],
    rule: 'live-store',
    what: 'the Redis does not answer',
    group: 'store',
  };
  return [...issuers, redis];
}

function identityChecks(identity: IdentitySettings, document: SourceDocument): readonly LiveCheck[] {
  const { kind, name } = identity;
  const at = ['identity', name];
  const common = { document, group: `identity ${name}` };
  switch (kind) {
    case 'jwt':
      return [
        {
          ...common,
          key: `keys ${identity.jwksUrl}`,
          attempt: (bounds) => fetchKeySet(identity.jwksUrl, bounds),
          path: [...at, document.has([...at, 'jwks']) ? 'jwks' : 'issuer'],
          rule: 'live-keys',
          what: `the keys of ${name} cannot be had`,
        },
      ];
    case 'introspection':
      return [
        {
          ...common,
          key: `introspection ${name}`,
          attempt: (bounds) => askIntrospection(identity, bounds),
          path: [...at, 'introspection'],
          rule: 'live-introspection',
          what: `${name} cannot be asked about tokens`,
        },
      ];
    // Only the gateway and its store know these credentials.
    case 'keys':
    case 'certificate':
      return [];
    default:
      return kind satisfies never;
  }
}

function targetChecks({ file, document }: PolicySource): readonly LiveCheck[] {
  return Object.entries(file.upstreams ?? {}).flatMap(([name, { targets, tls }]) =>
    targets.map(
      (origin, index): LiveCheck => ({
        key: `target ${origin} ${JSON.stringify(tls)}`,
        attempt: (bounds) => reachTarget(origin, tls, bounds),
        document,
        path: ['upstreams', name, 'targets', index],
        rule: 'live-target',
        what: `this target of ${name} cannot be reached`,
        group: `target ${document.file} ${name}`,
      }),
    ),
  );
}

function certificateProblems(
  { listeners: { https } }: LoadedPlan['settings'],
  { gateway, policies }: LoadedPlan['sources'],
  today: EpochMs,
): readonly Problem[] {
  const listened = (https?.certificates ?? []).flatMap(({ cert }, index) => {
    const end = endOfCertificateFile(cert, today);
    const path = ['listeners', 'https', 'tls', 'certificates', index, 'cert'];
    return end === undefined ? [] : [gateway.problem(path, { rule: 'live-certificate', ...end })];
  });
  const shown = policies.flatMap(({ file, document }) =>
    Object.entries(file.upstreams ?? {}).flatMap(([name, { tls }]) => {
      const end = tls?.cert === undefined ? undefined : endOfCertificate(tls.cert, today);
      const path = ['upstreams', name, 'tls', 'cert'];
      return end === undefined ? [] : [document.problem(path, { rule: 'live-certificate', ...end })];
    }),
  );
  return [...listened, ...shown];
}

const WARNING_MS = 14 * 86_400_000;

type CertificateEnd = Pick<UnplacedFinding, 'message'> & { readonly severity: 'error' | 'warning' };

/** For the first certificate in a PEM text. Undefined if it is valid for more than 14 days. */
export function endOfCertificate(pem: string, today: EpochMs): CertificateEnd | undefined {
  const end = new X509Certificate(pem).validToDate.getTime();
  if (end > today + WARNING_MS) return undefined;
  return end <= today
    ? { severity: 'error', message: `this certificate ended on ${dayOf(end)}` }
    : { severity: 'warning', message: `this certificate ends on ${dayOf(end)}` };
}

/** The file may have been removed after `check` read it. */
export function endOfCertificateFile(path: string, today: EpochMs): CertificateEnd | undefined {
  try {
    return endOfCertificate(readFileSync(path, 'utf8'), today);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { severity: 'error', message: 'this certificate cannot be read any more' };
  }
}
