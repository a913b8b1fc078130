// What an operator is told when the webhooks service is away, slow, or says what nobody understands.
// Made for webhooks.ts; a sentence each, with what to look at, and no address.
import { readRefusal } from '../../plan/webhook-answers.ts';
import { type AdminAnswer, errorAnswer } from '../answers.ts';
import type { ServiceAnswer } from './service.ts';

const SERVICE = 'webhooks';
const SETTING = 'notify.webhooks.deliveries of the gateway file';
const RETRY_AFTER_S = 5;

export function notSet(): AdminAnswer {
  return errorAnswer(
    404,
    'This gateway is not told of deliveries: write notify: { webhooks: { deliveries: "http://127.0.0.1:4006/admin" } } ' +
      'into the gateway file, with the address of your webhooks service, and restart it.',
  );
}

/** `missing`: the sentence of a 404, where what was asked for may be missing. ERR-5 where the service is away. */
export function serviceFailure(answer: ServiceAnswer, missing?: string): AdminAnswer {
  switch (answer.kind) {
    case 'away':
      return away(`The webhooks service cannot be reached (${answer.code}). ${SETTING} says where it is.`);
    case 'late': {
      const seconds = `${answer.withinMs / 1000}s`;
      const message = `The webhooks service did not answer within ${seconds}.`;
      return errorAnswer(504, message, { timeout: seconds });
    }
    case 'huge': {
      const most = `${Math.floor(answer.mostBytes / 1024 / 1024)} MiB`;
      return unusable(`The webhooks service answered with more than ${most}, which is not read.`);
    }
    case 'answered':
      return refused(answer, missing);
    default: {
      const never: never = answer;
      throw new Error(`unhandled answer ${String(never)}`);
    }
  }
}

function refused(
  { status, body }: Extract<ServiceAnswer, { kind: 'answered' }>,
  missing: string | undefined,
): AdminAnswer {
  if (status === 404 && missing !== undefined) return errorAnswer(404, missing);
  if (status === 409)
    return errorAnswer(409, readRefusal(body)?.message ?? 'The webhooks service refuses it as it is now.');
  if (status === 503) return away('The webhooks service cannot reach its store. Ask again.');
  const what = status === 200 ? 'with something else than its deliveries' : `with status ${status}`;
  return unusable(`The webhooks service answered ${what}. ${SETTING} says where it is.`);
}

function away(message: string): AdminAnswer {
  const headers = { 'retry-after': String(RETRY_AFTER_S) };
  return { ...errorAnswer(503, message, { retryAfter: RETRY_AFTER_S }), headers };
}

function unusable(message: string): AdminAnswer {
  return errorAnswer(502, message, { service: SERVICE });
}
