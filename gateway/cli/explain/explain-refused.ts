// The last row of an explanation if the request is not forwarded: the reason and its line in the files.
import {
  DOUBLE_SLASH,
  EMPTY_SEGMENT,
  ENCODED_SLASH,
  MISREAD,
  MISREAD_VERSION,
  SECOND_VERSION,
} from '../../exchange/steps/misreadings.ts';
import { versionOf, versionsAt } from '../../exchange/steps/resolution.ts';
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { Origin } from '../../plan/read/document.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { isForgotten } from '../../policy/lifecycle/retirement.ts';
import { dateInWords } from '../../policy/notation.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { resolveVersion } from '../../policy/versioning/resolve.ts';
import type { JudgedOutcome, JudgedRequest } from '../judge.ts';
import { endOf } from './decision-words.ts';
import type { DecisionRow } from './explain-rows.ts';
import type { PolicyLines } from './policy-lines.ts';

type Answered = Extract<JudgedOutcome, { kind: 'answered' }>;

export function refusedRow(
  { facts, view }: JudgedRequest,
  ending: Answered,
  lines: PolicyLines,
): DecisionRow {
  const step = ending.reason === 'published' ? 'answer' : 'refused';
  const row = { step, value: ending.reason, detail: '', assumed: undefined };
  const gone = forgottenOf(facts, ending);
  if (gone !== undefined) {
    const subject = gone.label === UNVERSIONED ? gone.api : gone.label;
    const since = dateInWords(gone.schedule.forgotten ?? facts.now);
    return { ...row, detail: `${subject} forgotten since ${since}`, origin: lines.key(gone, 'forgotten') };
  }
  const ambiguous = ambiguityRefusal(facts, ending, lines);
  if (ambiguous !== undefined) return { ...row, ...ambiguous };
  const detail = whyRefused({ facts, view }, ending);
  return { ...row, detail, origin: refusedAt(facts, ending, lines) };
}

/** For a path that services may read in different ways: the key or file that makes the gateway refuse it. */
function ambiguityRefusal(
  { api, plan, version }: JudgedRequest['facts'],
  { refusal }: Answered,
  lines: PolicyLines,
): Pick<DecisionRow, 'detail' | 'origin'> | undefined {
  switch (refusal) {
    case ENCODED_SLASH:
      return { detail: 'paths.encoded_slash is reject', origin: lines.encodedSlash };
    case EMPTY_SEGMENT:
      if (api?.hasOperations)
        return {
          detail: 'an empty segment, in an API that has rules for operations',
          origin: lines.operations,
        };
      return api?.inside !== undefined
        ? {
            detail: 'an empty segment, in an API with one version inside another',
            origin: lines.base(api.name),
          }
        : {
            detail: 'an empty segment, and another API has its base below this one',
            origin: lines.base(nestedIn(api, plan.apis) ?? ''),
          };
    case DOUBLE_SLASH:
      return { detail: 'the service would read the beginning of the path as a host', origin: undefined };
    case SECOND_VERSION:
      return { detail: 'the service may read a query parameter as that of version_as', origin: undefined };
    case MISREAD: {
      const name = api?.name ?? '';
      return { detail: `a service may read the path as one of API ${name}`, origin: lines.base(name) };
    }
    case MISREAD_VERSION:
      return {
        detail: 'the service may read the path as one of another version',
        origin: version && lines.upstream(version),
      };
    default:
      return undefined;
  }
}

function nestedIn(outer: ApiPlan | undefined, apis: readonly ApiPlan[]): string | undefined {
  const isBelow = ({ paths, hosts }: ApiPlan): boolean =>
    hosts.some((host) => outer?.hosts.includes(host)) &&
    paths.some((path) => outer?.paths.some((each) => path.startsWith(`${each}/`)));
  return apis.find((each) => each !== outer && isBelow(each))?.name;
}

/** The version that the request would get if it were not forgotten. An API without versions counts as one. */
function forgottenOf(facts: JudgedRequest['facts'], { reason, refusal }: Answered): VersionRules | undefined {
  const { api, version, now } = facts;
  if (reason === 'route_unknown') return version && isForgotten(version.schedule, now) ? version : undefined;
  if (refusal?.reason !== 'version_unknown' || api === undefined) return undefined;
  const versions = versionsAt(api, facts);
  const found = resolveVersion(
    api.resolution,
    { claims: [refusal.claim], preferences: [] },
    { ...versions, isReleased: (label) => versions.wasReleased(label, now) },
  );
  if (found.kind !== 'resolved') return undefined;
  const rules = versionOf(api, found.label);
  return isForgotten(rules.schedule, now) ? rules : undefined;
}

function whyRefused({ facts, view }: Pick<JudgedRequest, 'facts' | 'view'>, ending: Answered): string {
  if (ending.reason === 'maintenance') return endOf(facts.version?.maintenance);
  if (ending.reason === 'misdirected') return `no certificate is for ${view.host}`;
  if (ending.refusal?.reason === 'method_overridden')
    return `headers.request.keep lets no ${ending.refusal.field} of this caller through`;
  if (ending.reason === 'operation_not_granted')
    return `its access says no scopes for ${view.method}: name them, or write any`;
  return ending.cause ?? '';
}

function refusedAt(
  facts: JudgedRequest['facts'],
  { reason }: Answered,
  lines: PolicyLines,
): Origin | undefined {
  const { version, now } = facts;
  if (reason.startsWith('version_') && version === undefined) return lines.carrier(facts.carrier);
  switch (reason) {
    case 'credentials_in_url':
      return lines.credentialsInUrl;
    case 'method_overridden':
      return lines.kept;
    case 'misdirected':
      return lines.certificates;
    case 'adoption_frozen':
      return version && lines.key(version, 'freeze');
    case 'maintenance':
      return version && lines.key(version, 'maintenance');
    case 'body_too_large':
      return version && lines.size(version);
    case 'idempotency_key_missing':
    case 'idempotency_key_malformed':
    case 'idempotency_key_anonymous':
      return version && lines.key(version, 'idempotency');
    case 'version_moved':
      return version && lines.afterlife(version);
    case 'version_retired':
      return version && lines.phase(version, facts.phase ?? phaseAt(version.phases, now));
    case 'credentials_missing':
    case 'credentials_malformed':
    case 'token_invalid':
    case 'key_invalid':
    case 'certificate_invalid':
    case 'scope_insufficient':
    case 'operation_not_granted':
      return lines.key(version, 'access');
    default:
      return undefined;
  }
}
