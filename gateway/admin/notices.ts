// Admin routes for notices: preview the mails and events due now or at another instant, and send those due now.
import { readOptionalAuthor, unknownName } from '../api/admin-requests.ts';
import type {
  NoticesAnswer,
  NoticesFound,
  NoticesQuery,
  NoticesSent,
  SentAnswer,
} from '../api/notice-answers.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { isPrintableId, parseInstant } from '../policy/notation.ts';
import {
  type AdminAnswer,
  errorAnswer,
  instantText,
  jsonAnswer,
  malformedBody,
  malformedQuery,
} from './answers.ts';
import { type AdminRequest, type AdminRoute, type AdminWriteResult, orStoreUnavailable } from './route.ts';

export interface NoticePorts {
  readonly now: () => EpochMs;
  /** Undefined if the gateway file configures no notifications. */
  readonly notices:
    | {
        readonly preview: (query: NoticesQuery) => Promise<NoticesFound>;
        /** Undefined if the lifecycle clock was moved. */
        readonly announce: (() => Promise<NoticesSent>) | undefined;
      }
    | undefined;
  readonly plan: () => Pick<GatewayPlan, 'apis'>;
}

const NOTICES = '/-/notices';
const CLOCK_MOVED =
  'The lifecycle clock of this gateway was moved, so it sends no mails and no events. ' +
  'Use `sundial notify --dry-run` to list them, or start the gateway with `sundial run --at … --notify`.';
const PARAMETERS = ['api', 'consumer', 'at'] as const;

export function noticeRoutes(ports: NoticePorts): readonly AdminRoute[] {
  return [
    { method: 'GET', path: NOTICES, show: (request) => show(ports, request) },
    { method: 'POST', path: NOTICES, action: 'send_notices', perform: (request) => send(ports, request) },
  ];
}

/** Rejects with `StoreUnavailable`. */
async function show({ notices, plan }: NoticePorts, { query }: AdminRequest): Promise<AdminAnswer> {
  if (notices === undefined) return noticesOff();
  const problems = [...new Set(query.keys())].flatMap((name) => problemsOf(query, name));
  const [api, consumer, instant] = PARAMETERS.map((name) => query.get(name) ?? undefined);
  if (problems.length > 0) return malformedQuery(problems);
  const apis = plan().apis.map(({ name }) => name);
  if (api !== undefined && !apis.includes(api)) {
    return errorAnswer(404, `The query names an ${unknownName('API', api, apis)}.`);
  }
  const at = instant === undefined ? undefined : parseInstant(instant);
  const body = await notices.preview({ at, api, consumer });
  const instants = { now: instantText(body.now), at: instantText(body.at) };
  return jsonAnswer(200, { ...body, ...instants } satisfies NoticesAnswer);
}

function problemsOf(query: URLSearchParams, name: string): readonly string[] {
  const known: readonly string[] = PARAMETERS;
  if (!known.includes(name)) return [unknownName('parameter', name, known)];
  const values = query.getAll(name);
  if (values.length > 1) return [`"${name}" is given ${values.length} times`];
  const value = values[0] ?? '';
  if (!isPrintableId(value)) return [`"${name}" is empty, too long or not printable`];
  return name === 'at' && parseInstant(value) === undefined
    ? ['"at" is not a calendar date (YYYY-MM-DD) or an instant with its offset']
    : [];
}

async function send({ notices, now }: NoticePorts, { body }: AdminRequest): Promise<AdminWriteResult> {
  const read = readOptionalAuthor(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const audit = read.value;
  if (notices === undefined) return { answer: noticesOff(), audit };
  const { announce } = notices;
  if (announce === undefined) return { answer: errorAnswer(409, CLOCK_MOVED), audit };
  return orStoreUnavailable(audit, async () => {
    const result = await announce();
    const { events, mails, busy } = result;
    const body: SentAnswer = { now: instantText(now()), busy, events, mails };
    const after = { mails: mails.sent, events: events.sent };
    return { answer: jsonAnswer(200, body), audit: { ...audit, after } };
  });
}

function noticesOff(): AdminAnswer {
  return errorAnswer(
    404,
    'This gateway sends no notices: the gateway file sets neither notify.email.smtp nor notify.webhooks.intake. ' +
      'Add one of them, and restart the gateway.',
  );
}
