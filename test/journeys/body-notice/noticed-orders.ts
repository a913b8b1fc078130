// A gateway for the `_deprecation` journeys, before a raw upstream whose responses each case writes.
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1, overHttp2 } from '../../support/http-client.ts';
import { type RawUpstream, startRawUpstream } from '../../support/raw-upstream.ts';

export const DAY = Date.UTC(2026, 10, 20);
export const BODY = '{"id":12345678901234567890, "price":1.0,"id":7}\n';
export const TAG = '"abc"';
export const PROTOCOLS = ['HTTP/1.1', 'HTTP/2'] as const;

export type Reply = (socket: Socket, head: string) => void;

export interface Asked extends Answer {
  readonly tail: string;
  /** As the upstream received it. */
  readonly head: string;
  /** The notice of this resource, as in a body. */
  readonly member: string;
}

export interface NoticedOrders extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly upstream: RawUpstream;
  /** The lifecycle clock. */
  readonly clock: { now: number };
  /** By the path below the version, without its first slash. Other paths get `json(BODY)`. */
  readonly replies: Map<string, Reply>;
  readonly clientOf: (protocol: (typeof PROTOCOLS)[number]) => Client;
  /** Returns the tail of a new resource with this response. */
  readonly place: (reply: Reply) => string;
  readonly askFor: (ask: Client['ask'], reply: Reply, request?: Omit<Ask, 'path'>) => Promise<Asked>;
  /** The last head for this target that the upstream received. */
  readonly lastHead: (target: string) => string;
}

export async function startNoticedOrders(): Promise<NoticedOrders> {
  await using starting = new AsyncDisposableStack();
  const clock = { now: DAY };
  const replies = new Map<string, Reply>();
  const upstream = starting.use(
    await startRawUpstream((target, socket, head) => {
      const reply = replies.get(target.replace(/^\/echo\/?/, '').replace(/\?.*/, '')) ?? json(BODY);
      reply(socket, head);
    }),
  );
  const environment = { UPSTREAM: upstream.url };
  const lifecycleNow = () => clock.now;
  const gateway = starting.use(await runGateway({ policies: 'body-notice', lifecycleNow, environment }));
  const clients = {
    'HTTP/1.1': starting.use(overHttp1(gateway.https)),
    'HTTP/2': starting.use(overHttp2(gateway.https)),
  };
  const started = starting.move();

  let cases = 0;
  const place = (reply: Reply): string => {
    cases += 1;
    replies.set(String(cases), reply);
    return `/${cases}`;
  };
  const lastHead = (target: string): string => {
    const line = ` ${target} HTTP/1.1\r\n`;
    const heads = upstream.connections.flatMap(({ received }) => {
      const at = received.lastIndexOf(line);
      if (at === -1) return [];
      return [received.slice(received.lastIndexOf('\n', at) + 1, received.indexOf('\r\n\r\n', at))];
    });
    return heads.at(-1)?.toLowerCase() ?? '';
  };
  return {
    gateway,
    upstream,
    clock,
    replies,
    clientOf: (protocol) => clients[protocol],
    place,
    askFor: async (ask, reply, request = {}) => {
      const tail = place(reply);
      const got = await ask({ ...request, path: `/api/v1/orders${tail}` });
      return Object.assign(got, { tail, head: lastHead(`/echo${tail}`), member: memberOf(tail) });
    },
    lastHead,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

export function reply(status: number, lines: readonly string[], body: string | Buffer = ''): Reply {
  const bytes = Buffer.from(body);
  return (socket, head) => {
    // Otherwise the body of a write would be parsed as the next head on this connection.
    const isRead = /^(?:GET|HEAD) /.test(head);
    const framing = [
      ...(status === 304 || status === 204 ? [] : [`Content-Length: ${bytes.length}`]),
      ...(isRead ? [] : ['Connection: close']),
    ];
    socket.write(`${[`HTTP/1.1 ${status} -`, ...lines, ...framing].join('\r\n')}\r\n\r\n`);
    if (!head.startsWith('HEAD ')) socket.write(bytes);
    if (!isRead) socket.end();
  };
}

export function json(body: string | Buffer, ...lines: readonly string[]): Reply {
  return reply(200, ['Content-Type: application/json; charset=utf-8', ...lines], body);
}

/** The notice of `tail` in v1, as in a body. */
function memberOf(tail: string): string {
  return (
    '"_deprecation":{"deprecated":true,"sunset_date":"2027-04-15",' +
    `"replacement":"https://127.0.0.1/api/v2/orders${tail}",` +
    '"migration_guide":"https://docs.example.com/orders/v1-to-v2","reason":"Beträge werden ganze Zahlen"}'
  );
}

export const suffixOf = (member: string) =>
  `~d${createHash('sha256').update(member).digest('hex').slice(0, 8)}`;
export const edited = (body: string, member: string) => body.replace('{', `{${member},`);
export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('base64');
