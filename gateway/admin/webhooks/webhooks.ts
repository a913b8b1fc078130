// Admin routes for webhooks: subscriptions, their deliveries, and replay.
import { readReplayRequest } from '../../api/admin-requests.ts';
import { readDeliveries, readOverview, readRefusal, readReplayed } from '../../api/webhook-answers.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { isPrintableId } from '../../policy/notation.ts';
import {
  type AdminAnswer,
  errorAnswer,
  instantText,
  jsonAnswer,
  malformedBody,
  malformedQuery,
} from '../answers.ts';
import type { AdminRequest, AdminRoute, AdminWriteResult } from '../route.ts';
import { deliveryBody, overviewBody } from './bodies.ts';
import type { ServiceAnswer, WebhookService } from './service.ts';

export interface WebhookPorts {
  /** Undefined if the gateway file does not configure the service. */
  readonly service: WebhookService | undefined;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  /** The real time, which deliveries use. */
  readonly wallClock: () => EpochMs;
}

const WEBHOOKS = '/-/webhooks';
const STATES = ['pending', 'delivered', 'dead'];
const NO_SUBSCRIPTION = 'There is no such subscription. GET /-/webhooks lists all subscriptions.';
const OK = 200;
const MAX_SUBJECT = 256;
const SETTING = 'notify.webhooks.deliveries of the gateway file';
const RETRY_AFTER_S = 5;

export function webhookRoutes(ports: WebhookPorts): readonly AdminRoute[] {
  return [
    { method: 'GET', path: WEBHOOKS, show: () => showAll(ports) },
    { method: 'GET', path: `${WEBHOOKS}/{subscription}`, show: (request) => showOne(ports, request) },
    {
      method: 'POST',
      path: `${WEBHOOKS}/{subscription}/replay`,
      action: 'replay_deliveries',
      perform: (request) => replay(ports, request),
    },
  ];
}

async function showAll(ports: WebhookPorts): Promise<AdminAnswer> {
  const { service } = ports;
  if (service === undefined) return notSet();
  const answer = await service('/overview');
  const read = answer.kind === 'answered' && answer.status === OK ? readOverview(answer.body) : undefined;
  return read === undefined ? serviceFailure(answer) : datedAnswer(ports, overviewBody(read));
}

async function showOne(ports: WebhookPorts, { parameter, query }: AdminRequest): Promise<AdminAnswer> {
  const { service } = ports;
  if (service === undefined) return notSet();
  const subscription = parameter('subscription');
  if (!isPrintableId(subscription)) return errorAnswer(404, NO_SUBSCRIPTION);
  const names = [...query.keys()];
  const state = query.get('state');
  if (names.some((name) => name !== 'state') || names.length > 1)
    return malformedQuery(['the only parameter is "state", at most once']);
  if (state !== null && !STATES.includes(state))
    return malformedQuery([`"state" must be one of ${STATES.join(', ')}`]);
  const search = new URLSearchParams({ subscription, ...(state !== null && { state }) });
  const answer = await service(`/deliveries?${search}`);
  const read = answer.kind === 'answered' && answer.status === OK ? readDeliveries(answer.body) : undefined;
  if (read === undefined) return serviceFailure(answer, NO_SUBSCRIPTION);
  return datedAnswer(ports, { subscription, total: read.total, deliveries: read.data.map(deliveryBody) });
}

/** After 503 or 504 the write may have happened. */
async function replay(ports: WebhookPorts, { parameter, body }: AdminRequest): Promise<AdminWriteResult> {
  const { service } = ports;
  const read = readReplayRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { delivery, since, until, by, why } = read.value;
  const subscription = parameter('subscription');
  const audit = { subject: subscription.slice(0, MAX_SUBJECT), by, why };
  if (service === undefined) return { answer: notSet(), audit };
  if (!isPrintableId(subscription)) return { answer: errorAnswer(404, NO_SUBSCRIPTION), audit };
  const search = {
    subscription,
    ...(delivery !== undefined && { delivery }),
    ...(since !== undefined && { since: Math.ceil(since / 1000) }),
    ...(until !== undefined && { until: Math.floor(until / 1000) }),
  };
  const answer = await service('/replay', search);
  const done = answer.kind === 'answered' && answer.status === OK ? readReplayed(answer.body) : undefined;
  if (done === undefined) {
    const missing = delivery === undefined ? NO_SUBSCRIPTION : 'The subscription has no such delivery.';
    return { answer: serviceFailure(answer, missing), audit };
  }
  const after = { delivery, replayed: done.replayed };
  return { answer: datedAnswer(ports, done), audit: { ...audit, after } };
}

/** `now`: the lifecycle clock, as in every answer. `clock`: the real time, which deliveries use. */
function datedAnswer({ now, wallClock }: WebhookPorts, body: Readonly<Record<string, unknown>>): AdminAnswer {
  return jsonAnswer(200, { now: instantText(now()), clock: instantText(wallClock()), ...body });
}

function notSet(): AdminAnswer {
  return errorAnswer(
    404,
    'No webhooks service is configured. Add notify: { webhooks: { deliveries: "http://127.0.0.1:4006/admin" } } ' +
      'to the gateway file, with the address of your webhooks service, and restart the gateway.',
  );
}

/** `missing`: the message of a 404 about the requested item. ERR-5 if the service is unavailable. */
function serviceFailure(answer: ServiceAnswer, missing?: string): AdminAnswer {
  switch (answer.kind) {
    case 'away':
      return unavailable(`The webhooks service cannot be reached (${answer.code}). Check ${SETTING}.`);
    case 'late': {
      const seconds = `${answer.withinMs / 1000}s`;
      const message = `The webhooks service did not answer within ${seconds}.`;
      return errorAnswer(504, message, { timeout: seconds });
    }
    case 'huge': {
      const most = `${Math.floor(answer.mostBytes / 1024 / 1024)} MiB`;
      return unusable(`The webhooks service answered with more than ${most}, the limit of the gateway.`);
    }
    case 'answered':
      return refused(answer, missing);
    default:
      return answer satisfies never;
  }
}

function refused(
  { status, body }: Extract<ServiceAnswer, { kind: 'answered' }>,
  missing: string | undefined,
): AdminAnswer {
  if (status === 404 && missing !== undefined) return errorAnswer(404, missing);
  if (status === 409)
    return errorAnswer(409, readRefusal(body)?.message ?? 'The webhooks service refuses the replay.');
  if (status === 503) return unavailable('The webhooks service cannot reach its store. Retry.');
  const what = status === 200 ? 'with a body that is not a list of deliveries' : `with status ${status}`;
  return unusable(`The webhooks service answered ${what}. Check ${SETTING}.`);
}

function unavailable(message: string): AdminAnswer {
  const headers = { 'retry-after': String(RETRY_AFTER_S) };
  return { ...errorAnswer(503, message, { retryAfter: RETRY_AFTER_S }), headers };
}

function unusable(message: string): AdminAnswer {
  return errorAnswer(502, message, { service: 'webhooks' });
}
