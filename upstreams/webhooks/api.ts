// The subscription API, /webhooks and below: identifies the owner, parses the path and checks the method.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from '../service/answer.ts';
import { acceptsJson, JSON_TYPE, MERGE_PATCH } from '../service/media.ts';
import type { ApiParts, Call, Methods } from './api-call.ts';
import { deadReplayMethods, deliveryLog, deliveryMethods, replayMethods } from './api-deliveries.ts';
import {
  collectionMethods,
  enableMethods,
  healthMethods,
  rotationMethods,
  subscriptionMethods,
  testMethods,
} from './api-subscriptions.ts';

export const PATH = '/webhooks';
/** Only the gateway sets this header; it removes one sent by a client. */
export const CONSUMER_FIELD = 'x-consumer-id';

/** Rejects if the store is unavailable or the client disconnects in the middle of its body. */
export async function answerApi(
  parts: ApiParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  // A request of a web page has not come through the gateway, whatever consumer it names. It could get the secret of a
  // subscription.
  if (request.headers.origin !== undefined) {
    return sendError(response, 403, 'This API refuses requests of web pages');
  }
  const owner = request.headers[CONSUMER_FIELD];
  if (typeof owner !== 'string' || owner === '') {
    return sendError(response, 401, 'The request names no consumer');
  }
  const call: Call = { parts, request, response, owner, query: new URLSearchParams(query) };
  const methods = await methodsOf(call, path.slice(PATH.length).split('/').slice(1));
  if (methods === undefined) return sendError(response, 404, 'There is no such resource');
  const { method = '' } = request;
  const handle = methods[method === 'HEAD' ? 'GET' : method];
  if (handle === undefined) return sendMethods(method, methods, response);
  if (method !== 'DELETE' && !acceptsJson(request.headers.accept)) {
    return sendError(response, 406, `The response is ${JSON_TYPE}, which Accept excludes`);
  }
  // Reads check their own parameters.
  if (method !== 'GET' && method !== 'HEAD' && call.query.size > 0) {
    return sendError(response, 400, 'This request takes no query parameters');
  }
  return handle();
}

/** Undefined if the resource does not exist or belongs to another consumer. */
async function methodsOf(call: Call, segments: readonly string[]): Promise<Methods | undefined> {
  const [id, part, delivery, action, more] = segments;
  if (id === undefined) return collectionMethods(call);
  const subscription = more === undefined ? await call.parts.store.subscriptions.read(id) : undefined;
  if (subscription === undefined || subscription.owner !== call.owner) return undefined;
  if (part === undefined) return subscriptionMethods(call, subscription);
  if (part === 'deliveries') {
    if (delivery === undefined) return deliveryLog(call, subscription);
    const found = await call.parts.store.deliveries.read(delivery);
    if (found === undefined || found.subscription !== id) return undefined;
    if (action === undefined) return deliveryMethods(call, found);
    return action === 'replay' ? replayMethods(call, subscription, found) : undefined;
  }
  if (delivery !== undefined) return undefined;
  switch (part) {
    case 'rotate-secret':
      return rotationMethods(call, subscription);
    case 'test':
      return testMethods(call, subscription);
    case 'enable':
      return enableMethods(call, subscription);
    case 'replay':
      return deadReplayMethods(call, subscription);
    case 'health':
      return healthMethods(call, subscription);
    default:
      return undefined;
  }
}

function sendMethods(method: string, methods: Methods, response: ServerResponse): void {
  const names = Object.keys(methods).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
  const allow = { Allow: [...names, 'OPTIONS'].join(', ') };
  const patch = names.includes('PATCH') ? { 'Accept-Patch': `${MERGE_PATCH}, ${JSON_TYPE}` } : {};
  if (method === 'OPTIONS') response.writeHead(204, { ...allow, ...patch }).end();
  else sendError(response, 405, `${method} is not supported here`, allow);
}
