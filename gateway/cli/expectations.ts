// Checks the `expect` lists of policy files against the compiled plan.

import type { Loaded } from '../plan/load.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Problem } from '../plan/problems.ts';
import type { SourceDocument } from '../plan/read/document.ts';
import type { Settings } from '../plan/settings.ts';
import type { Expectation } from '../sections/expect/grammar.ts';
import { EVERY_SCOPE, type JudgedRequest, judge } from './judge.ts';
import { assumePins } from './known-account.ts';
import { parseRequest } from './parse-request.ts';

interface Expected {
  readonly plan: GatewayPlan;
  readonly settings: Settings;
  readonly document: SourceDocument;
  readonly expectation: Expectation;
  readonly host: string;
}

/** `came` is undefined if the values cannot be compared. */
type ComparedValues = readonly (readonly [key: keyof Expectation, expected: unknown, came: unknown])[];

/** One problem for each expectation that fails, at the first key that differs. No problem without a plan. */
export async function failedExpectations({ plan, settings, sources }: Loaded): Promise<readonly Problem[]> {
  if (plan === undefined || settings === undefined || sources === undefined) return [];
  const problems: Problem[] = [];
  for (const { file, document } of sources.policies) {
    const host = plan.apiNamed(file.api)?.hosts[0] ?? '';
    for (const [index, expectation] of (file.expect ?? []).entries()) {
      const problem = await problemOf({ plan, settings, document, expectation, host }, index);
      if (problem !== undefined) problems.push(problem);
    }
  }
  return problems;
}

async function problemOf(expected: Expected, index: number): Promise<Problem | undefined> {
  const { plan, settings, document, expectation, host } = expected;
  const { request, headers = {}, as, at, pin, created, first_seen: firstSeen } = expectation;
  const parsed = parseRequest(
    {
      request,
      headers: Object.entries(headers),
      host,
      authorization: as === undefined ? undefined : 'Bearer expected',
    },
    settings,
    plan,
  );
  const finding = (key: keyof Expectation, message: string) =>
    document.problem(['expect', index, key], { rule: 'expect', message });
  if (parsed.kind === 'unusable') return finding('request', parsed.message);
  const consumer = { id: as ?? '', isNamed: as !== undefined, mayLabelMetrics: true, scopes: EVERY_SCOPE };
  const judged = await judge(parsed, {
    plan,
    settings,
    now: at,
    overrides: [],
    consumer,
    account: { pin, created, firstSeen },
    pins: assumePins({ pin }, at),
  });
  const wrong = compare(expectation, judged).find(
    ([, wanted, came]) => wanted !== undefined && wanted !== came,
  );
  if (wrong === undefined) return undefined;
  const [key, wanted, came] = wrong;
  const shown = document.show(['expect', index, key], wanted);
  const instead = came === undefined ? '' : `, not ${JSON.stringify(came)}`;
  return finding(key, `expected ${key} ${shown}${instead}: the request is ${endOf(judged)}`);
}

function compare(
  { version, stage, status, location }: Expectation,
  { facts, ending }: JudgedRequest,
): ComparedValues {
  const answer = ending.kind === 'answered' ? ending.answer : undefined;
  return [
    ['status', status, answer?.status],
    ['version', version, facts.version?.label],
    ['stage', stage, facts.phase?.stage],
    ['location', location, answer?.headers.get('location')],
  ];
}

function endOf({ ending }: JudgedRequest): string {
  return ending.kind === 'forwarded'
    ? `forwarded to ${ending.order.upstream.name}`
    : `answered ${ending.answer.status} ${ending.reason}`;
}
