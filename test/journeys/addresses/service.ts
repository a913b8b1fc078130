// A service that responds as the request says, with the path that it received.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ToldAnswer {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface ToldService extends AsyncDisposable {
  readonly url: string;
}

/** The request field that tells the service how to respond. */
export const TOLD = 'x-told-answer';

export const telling = (answer: ToldAnswer): Record<string, string> => ({
  [TOLD]: encodeURIComponent(JSON.stringify(answer)),
});

export async function startToldService(): Promise<ToldService> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function respond(request: IncomingMessage, response: ServerResponse): void {
  const told = request.headers[TOLD];
  const { status = 200, headers }: ToldAnswer =
    typeof told === 'string' ? JSON.parse(decodeURIComponent(told)) : { headers: {} };
  request.resume();
  request.once('end', () => {
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value as string | string[]);
    if (status === 304) response.end();
    else response.end(JSON.stringify({ target: request.url, headers: request.headers }));
  });
}
