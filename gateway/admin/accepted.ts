// Records a change of a published date that an operator accepts although the rules refuse it, then reloads.
import { readAcceptRequest } from '../api/admin-requests.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Problem } from '../plan/problems.ts';
import type { PublishedHistory } from '../plan/published/history.ts';
import type { PublishedChange } from '../plan/published/record.ts';
import type { EpochMs } from '../policy/contract.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';
import { errorAnswer, jsonAnswer, malformedBody } from './answers.ts';
import { type ConfigPorts, outcomeBody } from './config.ts';
import { type AdminRequest, type AdminRoute, type AdminWriteResult, orStoreUnavailable } from './route.ts';

export interface AcceptPorts extends Pick<ConfigPorts, 'preview' | 'reload'> {
  readonly plan: () => Pick<GatewayPlan, 'apis'>;
  readonly history: Pick<PublishedHistory, 'accept' | 'records'>;
  readonly wallClock: () => EpochMs;
}

export function acceptRoutes(ports: AcceptPorts): readonly AdminRoute[] {
  return [
    {
      method: 'POST',
      path: '/-/accepted',
      action: 'accept',
      perform: (request) => accept(ports, request),
    },
  ];
}

async function accept(
  { plan, preview, reload, history, wallClock }: AcceptPorts,
  { body }: AdminRequest,
): Promise<AdminWriteResult> {
  const read = readAcceptRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { api, version, by, why } = read.value;
  const subject = version === undefined ? api : `${api} ${version}`;
  const audit = { subject, by, why };
  if (!history.records)
    return {
      answer: errorAnswer(
        409,
        'The lifecycle clock was moved by --at: this gateway records nothing. Start it without --at.',
      ),
      audit,
    };
  return orStoreUnavailable(audit, async () => {
    const problems = await preview();
    const changes = refusedChanges(problems, api, version);
    if (changes.length === 0) {
      const message = unknownSubject(plan(), api, version) ?? nothingRefused(subject, problems);
      return { answer: errorAnswer(404, message), audit };
    }
    const at = wallClock();
    await history.accept(changes.map((change) => ({ kind: 'accepted', ...change, by, why, at })));
    const outcome = await reload();
    const accepted = changes.map(({ label, to }) => ({ label, to }));
    return {
      answer: jsonAnswer(201, { api, accepted, ...outcomeBody(outcome) }),
      audit: { ...audit, after: Object.fromEntries(changes.map(({ label, to }) => [label, to])) },
    };
  });
}

/** `version` includes its operations. */
function refusedChanges(
  problems: readonly Problem[],
  api: string,
  version: string | undefined,
): readonly PublishedChange[] {
  return problems.flatMap(({ severity, change }) => {
    if (severity !== 'error' || change?.api !== api) return [];
    const isMeant =
      version === undefined || change.label === version || change.label.startsWith(`${version} `);
    return isMeant ? [change] : [];
  });
}

/** Undefined if the plan has the API and the version. */
function unknownSubject(
  { apis }: Pick<GatewayPlan, 'apis'>,
  api: string,
  version: string | undefined,
): string | undefined {
  const named = apis.find(({ name }) => name === api);
  if (named === undefined)
    return `No API ${JSON.stringify(api)} is in force ${knownText(apis.map(({ name }) => name))}.`;
  const [label = ''] = version?.split(' ') ?? [];
  if (version === undefined || named.versions.has(label)) return undefined;
  const labels = [...named.versions.keys()].filter((each) => each !== UNVERSIONED);
  return labels.length === 0
    ? `The API ${api} has no versions: omit the version.`
    : `The API ${api} has no version ${JSON.stringify(label)} ${knownText(labels)}.`;
}

const MAX_NAMES = 20;

function knownText(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ', …' : '';
  return `(known: ${names.slice(0, MAX_NAMES).join(', ') || 'none'}${more})`;
}

function nothingRefused(subject: string, problems: readonly Problem[]): string {
  const others = problems.some(({ severity, change }) => severity === 'error' && change === undefined);
  const advice = others ? ' First correct the other errors of the files: sundial check lists them.' : '';
  return `Nothing to accept: no rule refuses a changed date of ${subject}.${advice}`;
}
