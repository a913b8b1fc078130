// `sundial explain`: one request, every decision, the line that made it, the answer, and what changes next.
// Runs the very function that a gateway runs, on the files as they are; nothing is sent anywhere.
import type { Environment } from '../plan/interpolate.ts';
import { loadAll } from '../plan/load.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import { hasErrors, renderProblems } from '../plan/problems.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import { parseField, readAsked } from './asked-request.ts';
import { type CommandResult, exitCodeOf } from './check.ts';
import { decisionsOf } from './explain-decisions.ts';
import { nextChanges } from './explain-next.ts';
import { explanationJson, explanationText } from './explain-text.ts';
import { EVERY_SCOPE, judge } from './judge.ts';
import type { KnownAccount } from './known-account.ts';

export type ExplainFormat = 'text' | 'json';

export interface ExplainOptions {
  /** `GET /api/v1/orders`; a whole URL names host and scheme, a path means the public address. */
  readonly request: string;
  /** `Name: value`. */
  readonly headers: readonly string[];
  /** The consumer that calls; undefined: nobody, unless a token is among the headers. */
  readonly as: string | undefined;
  /** Undefined: every scope there is. */
  readonly scopes: readonly string[] | undefined;
  /** What is known of the account that the consumer calls for. */
  readonly account?: KnownAccount;
  /** End of a pause of the API that runs from `now` on; undefined: nothing is paused. */
  readonly paused: EpochMs | undefined;
  readonly format: ExplainFormat;
  readonly configFile: string;
  readonly environment: Environment;
  /** Lifecycle instant. */
  readonly now: EpochMs;
  /** The real day: on an earlier `now` the files are still those of today, without upstreams for what has ended. */
  readonly today: EpochMs;
  readonly colour: boolean;
  readonly cwd?: string;
}

const MOST_CHANGES = 5;
const NO_NAME = '(whoever the token names)';
/** Stands for a token whose owner was named; it is shown to nobody and verified by nobody. */
const TOKEN = 'Bearer explained';

/** Refusals are explained with 0 as well: 1 is for problems in the files, 2 for a request that cannot be read. */
export async function runExplain(options: ExplainOptions): Promise<CommandResult> {
  const loaded = await loadAll({ ...options, now: Math.max(options.now, options.today) });
  const { plan, settings, sources, problems } = loaded;
  if (hasErrors(problems) || plan === undefined || settings === undefined || sources === undefined) {
    return { exitCode: exitCodeOf(problems, false), text: renderProblems(problems, options) };
  }
  const headers = options.headers.map((text) => parseField(text) ?? text);
  const odd = headers.find((field) => typeof field === 'string');
  if (odd !== undefined) return unusable(`not a header such as "API-Version: v1": ${JSON.stringify(odd)}`);
  const asked = readAsked(
    {
      request: options.request,
      headers: headers.filter((field) => typeof field !== 'string'),
      host: new URL(plan.public).hostname,
      authorization: options.as === undefined ? undefined : TOKEN,
    },
    settings,
  );
  if (asked.kind === 'unusable') return unusable(asked.message);
  const scopes = options.scopes === undefined ? EVERY_SCOPE : new Set(options.scopes);
  const consumer = { id: options.as ?? NO_NAME, named: true, scopes };
  const { paused } = options;
  if (paused !== undefined && paused <= options.now)
    return unusable('--paused must be later than the instant the request is judged at');
  const overrides = paused === undefined ? [] : pausesOf(plan, options.now, paused);
  const { account = {} } = options;
  const judgeAt = (now: EpochMs, known: KnownAccount) =>
    judge(asked, { plan, settings, now, overrides, consumer, account: known });
  const judged = await judgeAt(options.now, account);
  const { carrier, version } = judged.facts;
  // The first call keeps what it got: from then on it is no first call.
  const later = carrier === 'pin' && version !== undefined ? { ...account, pin: version.label } : account;
  const explanation = {
    judged,
    decisions: decisionsOf(judged, sources, { consumer: options.as, scopes: options.scopes, account }),
    next: await nextChanges(judged, (now) => judgeAt(now, later), MOST_CHANGES),
  };
  const text = options.format === 'json' ? explanationJson(explanation) : explanationText(explanation);
  return { exitCode: 0, text };
}

/** Which API is asked for is only known once the request is judged. */
function pausesOf({ apis }: GatewayPlan, from: EpochMs, until: EpochMs): readonly Override[] {
  const passed = { kind: 'pause', label: undefined, author: '', reason: '', from, until } as const;
  return apis.map(({ name }) => ({ ...passed, id: name, api: name }));
}

function unusable(message: string): CommandResult {
  return { exitCode: 2, text: `sundial: ${message}\n` };
}
