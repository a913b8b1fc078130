// Decisions about a request in the order they were made, each with its line in the files.
import { CREDENTIALS } from '../../exchange/answers/challenge.ts';
import type { RefusalReason } from '../../exchange/directive.ts';
import type { Decision as Found } from '../../exchange/facts.ts';
import type { LoadedPlan } from '../../plan/load.ts';
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import { plural } from '../../plan/problems.ts';
import { MEMBER_NAME } from '../../policy/body-notice/notice.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { hasDates, stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { assess, effectivePause } from '../../policy/lifecycle/assess.ts';
import { hasEnded } from '../../policy/lifecycle/retirement.ts';
import type { Phase } from '../../policy/lifecycle/schedule.ts';
import { UPSTREAM_SIGNALS } from '../../policy/lifecycle/upstream-signal.ts';
import { dateInWords } from '../../policy/notation.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { JudgedRequest } from '../judge.ts';
import { accountInWords, type KnownAccount } from '../known-account.ts';
import { datesInWords, formatCarrier, keyInWords, locationsInWords, perWindow } from './decision-words.ts';
import { refusedRow } from './explain-refused.ts';
import {
  brownoutRow,
  type DecisionRow,
  exceptionRows,
  freezeRows,
  limitRows,
  retirementRows,
} from './explain-rows.ts';
import { type PolicyLines, policyLines } from './policy-lines.ts';

export interface GivenCaller {
  readonly consumer: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly account: KnownAccount;
}

/** Methods whose requests usually have a body. */
const BODIED: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

export function decisionsOf(
  request: JudgedRequest,
  { sources, settings }: Pick<LoadedPlan, 'sources' | 'settings'>,
  passed: GivenCaller,
): readonly DecisionRow[] {
  const { view, ending } = request;
  const { api, plan, refusedBy } = request.facts;
  const named = policyLines(sources, api?.name);
  const rows: DecisionRow[] = [];
  const add = (step: string, value: string, row: Partial<Omit<DecisionRow, 'step' | 'value'>>) =>
    rows.push({ step, value, detail: '', assumed: undefined, origin: undefined, ...row });

  if (plan.guard !== undefined && isJudged(request)) {
    const detail = `${perWindow(plan.guard)} of an address`;
    add('guard', 'passed', { detail, assumed: 'nothing counted yet', origin: named.guard });
  }
  if (api !== undefined) {
    const match = plan.routes.match(view.host, view.path);
    const route = named.route(match?.versionSegment !== undefined);
    const observed = api.mode === 'observe' ? ', mode observe' : '';
    const assessed = [...api.versions.values()].map((each) => assess(each, request.facts));
    const detail = `${route?.text ?? ''}${observed}, ${stageOfApi(assessed, request.facts.now)}`;
    const isOneOfMany = view.scheme === 'https' && (settings.listeners.https?.certificates.length ?? 0) > 1;
    const assumed = isOneOfMany ? `the connection is for ${view.host}` : undefined;
    add('api', api.name, { detail, assumed, origin: route?.origin });
  }
  const { version: chosen, carrier } = request.facts;
  if (chosen !== undefined && chosen.label !== UNVERSIONED) {
    const how = accountInWords(request.facts, passed.account) ?? { detail: formatCarrier(carrier) };
    add('version', chosen.label, { ...how, origin: named.carrier(carrier) });
  }
  if (refusedBy !== undefined)
    rows.push(readAsRow(refusedBy, api, policyLines(sources, refusedBy.api?.name)));
  // The rows below are about the rules that refuse the request, or else about those that its path names.
  const judged = refusedBy?.version === undefined ? request : judgedBy(request, refusedBy);
  const { facts } = judged;
  const { version, phase, quotas } = facts;
  const lines = policyLines(sources, facts.api?.name);
  if (version !== undefined && hasDates(version.schedule)) {
    if (version.operation !== undefined)
      add('operation', version.operation, { detail: 'has rules of its own', origin: lines.rules(version) });
    if (phase !== undefined) {
      const early = hasEnded(phase) && facts.now < (version.schedule.sunset ?? facts.now);
      add('stage', phase.stage, {
        detail: `${early ? 'no upstream is left, ' : ''}${datesInWords(version.schedule, facts.now)}`,
        assumed: wouldBeHeld(version, phase, facts.now) ? 'no pause' : undefined,
        origin: lines.phase(version, phase),
      });
    }
    const pause = effectivePause(version, facts);
    if (pause !== undefined) {
      const detail = 'brownouts and retirement are on hold';
      add('paused', `until ${dateInWords(pause.until)}`, { detail });
    }
    rows.push(...retirementRows(version, facts, lines.key(version, 'retire_when')));
    const [window] = version.brownouts?.windows(facts.now, Number.POSITIVE_INFINITY) ?? [];
    if (window !== undefined && version.upstream !== undefined) {
      rows.push(brownoutRow(version, window, judged, lines));
    }
  }
  const reached = ending.kind === 'forwarded' || facts.consumer !== undefined || quotas !== undefined;
  if (version !== undefined && reached) {
    const { access } = version;
    const origin = lines.key(version, 'access');
    if (access.kind === 'public') add('identity', 'public', { detail: 'no token needed', origin });
    else if (facts.consumer === undefined) {
      if (access.anonymous) add('identity', 'anonymous', { detail: 'no credentials needed', origin });
    } else {
      const { id, via } = facts.consumer;
      const assumed = passed.consumer === undefined ? `the ${CREDENTIALS[via]} is in order` : undefined;
      const scopes = passed.scopes === undefined ? 'it has the scopes' : undefined;
      const both = [assumed, scopes].filter((each) => each !== undefined).join(', ');
      // Omitted if the API accepts only tokens.
      const how = via === 'token' && access.schemes.length === 1 ? '' : `, by its ${CREDENTIALS[via]}`;
      const detail = access.identities.join(', ') + how;
      add('identity', id, { detail, assumed: both || undefined, origin });
    }
  }
  if (version !== undefined) {
    rows.push(...exceptionRows(version, facts, (index) => lines.exception(version, index)));
    rows.push(...freezeRows(version, facts, passed.account, lines));
  }
  if (version !== undefined && reached && BODIED.has(view.method)) {
    const length = view.headers.get('content-length');
    const assumed = length === undefined ? 'its body is no longer' : undefined;
    add('size', `at most ${version.maxBody} bytes`, { assumed, origin: lines.size(version) });
  }
  if (version !== undefined && quotas !== undefined) rows.push(...limitRows(version, quotas, lines));
  const { idempotency } = version ?? {};
  if (version !== undefined && idempotency?.methods.has(view.method) && ending.kind === 'forwarded') {
    const { value, detail, assumed } = keyInWords(idempotency, facts.idempotency);
    add('key', value, { detail, assumed, origin: lines.key(version, 'idempotency') });
  }
  if (facts.observed !== undefined) {
    add('observed', facts.observed, { detail: 'would be the answer with mode: enforce' });
  }
  if (ending.kind === 'answered') {
    const refused = refusedBy === undefined ? request : judgedBy(request, refusedBy);
    rows.push(refusedRow(refused, ending, policyLines(sources, refused.facts.api?.name)));
  } else {
    const { upstream, target, notice } = ending.order;
    const [first, ...more] = upstream.targets;
    const others = more.length === 0 ? '' : ` and ${plural(more.length, 'other target')}`;
    const detail = `${view.method} ${first?.origin ?? ''}${target}${others}`;
    add('forward', upstream.name, { detail, origin: version && lines.upstream(version) });
    if (api !== undefined && lines.locations !== undefined)
      add('locations', api.locations, { detail: locationsInWords(ending.order), origin: lines.locations });
    const signals = (phase?.replace ?? []).map(([name]) => name).filter((name) => UPSTREAM_SIGNALS.has(name));
    if (api?.upstreamWins && signals.length > 0) {
      const detail = 'unless the upstream sends its own';
      add('signals', signals.join(', '), { detail, origin: lines.upstreamWins });
    }
    if (notice !== undefined) {
      const where = 'added where the body is a JSON object';
      add('notice', MEMBER_NAME, { detail: where, origin: version && lines.key(version, 'body_notice') });
    }
  }
  return rows;
}

/** The other rules that the path may select in a service, and that refuse the request. */
function readAsRow({ api, version }: Found, named: ApiPlan | undefined, lines: PolicyLines): DecisionRow {
  const isOwn = version !== undefined && api === named;
  return {
    step: 'read as',
    value: version?.operation ?? (isOwn ? version.label : `API ${api?.name}`),
    detail: 'a service may read the path so, and these rules apply too',
    assumed: undefined,
    origin: isOwn ? lines.rules(version) : lines.base(api?.name ?? ''),
  };
}

/** Whether a pause would change the response. */
function wouldBeHeld({ upstream, brownouts }: VersionRules, phase: Phase, now: EpochMs): boolean {
  return upstream !== undefined && (hasEnded(phase) || brownouts?.at(now) !== undefined);
}

function judgedBy(request: JudgedRequest, decision: Found): JudgedRequest {
  return { ...request, facts: { ...request.facts, ...decision } };
}

/** False if a listener refuses the request before the pipeline. */
function isJudged({ facts, ending }: JudgedRequest): boolean {
  return facts.api !== undefined || ending.kind === 'forwarded' || ENTRANCE.has(ending.reason);
}

const ENTRANCE: ReadonlySet<string> = new Set<RefusalReason>([
  'route_unknown',
  'host_unknown',
  'credentials_in_url',
]);
