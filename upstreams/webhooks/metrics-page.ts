// GET /metrics of the webhooks service, on its own port for this machine and on a listener for scrapers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from '../service/answer.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import type { Metrics } from './metrics.ts';

export const METRICS_PATH = '/metrics';

/** 404 for any other path, 405 for other methods. Rejects if the store is unavailable. */
export async function answerMetrics(
  metrics: Metrics,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== METRICS_PATH) return sendError(response, 404, 'There is no such resource');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return sendError(response, 405, 'This resource supports GET, HEAD', { Allow: 'GET, HEAD' });
  const text = await metrics.text();
  response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text);
}

/** Undefined if no listener is configured. Rejects with a sentence for the operator if its port is not available. */
export async function listenForScrapers(
  metrics: Metrics,
  options: ListenOptions | undefined,
  failing: (request: IncomingMessage, response: ServerResponse) => (error: unknown) => void,
): Promise<Service | undefined> {
  if (options === undefined) return undefined;
  return listen(
    (request, response) => {
      answerMetrics(metrics, request, response).catch(failing(request, response));
    },
    { ...options, hosts: 'any' },
  ).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `the metrics listener cannot use port ${options.port} (${error.code}); SUNDIAL_WEBHOOKS_METRICS moves it`,
      { cause: error },
    );
  });
}
