// An upstream that counts the requests it executes, and responds as each case says.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Carried {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answering = (response: ServerResponse, carried: Carried, count: number) => void;

export interface CountingOrders extends AsyncDisposable {
  readonly url: string;
  /** Requests executed for a path, with whole bodies only. */
  readonly carried: (path: string) => readonly Carried[];
  /** Sets the response of a path. Without one it is 201 with the number of the order. */
  readonly answerWith: (path: string, answering: Answering) => void;
}

const PLACED: Answering = (response, _carried, count) => {
  response.writeHead(201, {
    'content-type': 'application/json',
    location: `/orders/${count}`,
    etag: `"${count}"`,
  });
  response.end(`{"order":${count}}`);
};

export async function startCountingOrders(): Promise<CountingOrders> {
  const all: Carried[] = [];
  const answers = new Map<string, Answering>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = request.url ?? '';
    const carried = { url, headers: request.headers, body: Buffer.concat(chunks).toString('latin1') };
    all.push(carried);
    const count = all.filter((each) => each.url === url).length;
    (answers.get(url) ?? PLACED)(response, carried, count);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    carried: (path) => all.filter(({ url }) => url === path),
    answerWith: (path, answering) => void answers.set(path, answering),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
