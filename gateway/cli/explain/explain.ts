// `sundial explain`: the decisions about a request with their lines in the files, the response, and what changes next.
import { hasPlan, type LoadedPlan, loadAll } from '../../plan/load.ts';
import type { GatewayPlan } from '../../plan/plan.ts';
import { renderProblems } from '../../plan/problems.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Override } from '../../policy/lifecycle/override.ts';
import {
  type CommandResult,
  exitCodeOf,
  failureJson,
  unusable as unusableResult,
} from '../command-result.ts';
import type { DatedFiles } from '../command-setting.ts';
import { EVERY_SCOPE, judge } from '../judge.ts';
import { assumePins, type KnownAccount } from '../known-account.ts';
import { parseField, parseRequest } from '../parse-request.ts';
import { decisionsOf } from './explain-decisions.ts';
import { nextChanges } from './explain-next.ts';
import { explanationJson, explanationText } from './explain-text.ts';

export interface ExplainQuestion {
  /** Such as `GET /api/v1/orders`, with a path or a URL. A path alone uses the public address. */
  readonly request: string;
  /** Each as `Name: value`. */
  readonly headers: readonly string[];
  /** The calling consumer. Undefined: anonymous, unless the headers have a token. */
  readonly as: string | undefined;
  /** Undefined: every scope. */
  readonly scopes: readonly string[] | undefined;
  readonly account?: KnownAccount;
  /** End of a pause of the API that starts at `now`. Undefined: no pause. */
  readonly paused: EpochMs | undefined;
  readonly format: 'text' | 'json';
  readonly now: EpochMs;
}

export interface ExplainOptions extends ExplainQuestion, DatedFiles {}

const MAX_CHANGES = 5;
const NO_NAME = '(the consumer of the token)';
/** A placeholder for the token of a named consumer. It is never printed or verified. */
const TOKEN = 'Bearer explained';

/** A refused request has exit code 0 too. 1: problems in the files. 2: a request that cannot be parsed. */
export async function runExplain(options: ExplainOptions): Promise<CommandResult> {
  const loaded = await loadAll({ ...options, now: Math.max(options.now, options.today) });
  if (hasPlan(loaded)) return explain(loaded, options);
  const { problems } = loaded;
  const text = renderProblems(problems, options);
  return {
    exitCode: exitCodeOf(problems, false),
    text,
    ...(options.format === 'json' && { json: failureJson(text, problems) }),
  };
}

/** As `runExplain`, for loaded files. */
export async function explain(loaded: LoadedPlan, question: ExplainQuestion): Promise<CommandResult> {
  const { plan, settings } = loaded;
  const unusable = (message: string): CommandResult => {
    const result = unusableResult(message);
    return question.format === 'json' ? { ...result, json: failureJson(result.text) } : result;
  };
  const headers = question.headers.map((text) => parseField(text) ?? text);
  const odd = headers.find((field) => typeof field === 'string');
  if (odd !== undefined) return unusable(`not a header such as "API-Version: v1": ${JSON.stringify(odd)}`);
  const request = parseRequest(
    {
      request: question.request,
      headers: headers.filter((field) => typeof field !== 'string'),
      host: new URL(plan.public).host,
      authorization: question.as === undefined ? undefined : TOKEN,
    },
    settings,
    plan,
  );
  if (request.kind === 'unusable') return unusable(request.message);
  const scopes = question.scopes === undefined ? EVERY_SCOPE : new Set(question.scopes);
  const consumer = {
    id: question.as ?? NO_NAME,
    isNamed: question.as !== undefined,
    mayLabelMetrics: true,
    scopes,
  };
  const { paused } = question;
  if (paused !== undefined && paused <= question.now)
    return unusable('--paused must be later than the instant the request is judged at');
  const overrides = paused === undefined ? [] : pausesOf(plan, question.now, paused);
  const { account = {} } = question;
  const pins = assumePins(account, question.now);
  const judgeAt = (now: EpochMs) =>
    judge(request, { plan, settings, now, overrides, consumer, account, pins });
  const judged = await judgeAt(question.now);
  const explanation = {
    judged,
    decisions: decisionsOf(judged, loaded, { consumer: question.as, scopes: question.scopes, account }),
    next: await nextChanges(judged, judgeAt, MAX_CHANGES),
  };
  const text = question.format === 'json' ? explanationJson(explanation) : explanationText(explanation);
  return { exitCode: 0, text };
}

/** Pauses every API, because the API is unknown before the request is judged. */
function pausesOf({ apis }: GatewayPlan, from: EpochMs, until: EpochMs): readonly Override[] {
  const passed = { kind: 'pause', label: undefined, author: '', reason: '', from, until } as const;
  return apis.map(({ name }) => ({ ...passed, id: name, api: name }));
}
