// An upstream closes its connection at any moment, on both planes: no unsafe retry, no avoidable 502.
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PLANES } from '../../../gateway/plan/bounds.ts';
import { forEachTest } from '../gateway-pair.ts';
import { get, OK, type RawRequest, sendRaw, until } from '../raw-sockets.ts';

const { pair } = forEachTest();

const request = (method: string, path: string): string =>
  method === 'POST' ? get(path, ['Content-Length: 2'], 'POST', 'hi') : get(path);
const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';

interface Moment {
  readonly name: string;
  readonly end: (socket: Socket) => void;
}

const AFTER: readonly Moment[] = [
  { name: 'in the packet of the response', end: (socket) => void socket.end(OK, 'latin1') },
  {
    name: 'right after the response',
    end(socket) {
      socket.write(OK, 'latin1');
      socket.end();
    },
  },
  {
    name: 'one event loop turn later',
    end(socket) {
      socket.write(OK, 'latin1');
      setImmediate(() => socket.end());
    },
  },
  {
    name: 'by a reset after the response',
    end(socket) {
      socket.write(OK, 'latin1', () => setImmediate(() => socket.resetAndDestroy()));
    },
  },
];

describe.each(PLANES)('on the %s plane', (plane) => {
  describe.each(['GET', 'POST'])(
    'FWD-16: the upstream closes the connection after its response to a %s',
    (method) => {
      it.each(AFTER)('$name: the next request runs once', async ({ end }) => {
        const { upstream, gateway } = await pair(
          (sent) => {
            if (method === 'GET') end(sent.socket);
            return undefined;
          },
          { plane },
          (sent) => {
            if (sent.complete) end(sent.socket);
            return undefined;
          },
        );
        for (let count = 0; count < 40; count += 1) {
          const path = `/echo/${count}`;
          const { statuses } = await sendRaw(gateway.port, request(method, path));
          // The client of a POST waits until the end of the connection has arrived here.
          if (method === 'POST') while (upstream.sockets.size > 0) await turn();
          expect([path, statuses]).toEqual([path, [200]]);
        }
        const sent = upstream.requests.map(pathOf);
        expect(new Set(sent).size).toBe(40);
        if (method === 'POST') expect(sent).toHaveLength(40);
      });
    },
  );

  describe.each([
    ['GET', 2],
    ['POST', 1],
  ] as const)('FWD-16: the upstream closes the connection before its response to a %s', (method, tries) => {
    const MOMENTS: readonly (readonly [name: string, part: string, tried: number])[] = [
      ['without an octet', '', tries],
      ['within the status line', 'HTTP/1.1 20', 1],
      ['within the head', 'HTTP/1.1 200 OK\r\nContent-Le', 1],
    ];
    it.each(MOMENTS)('%s: the client gets 502', async (_name, part, tried) => {
      const end = ({ socket }: RawRequest): undefined => {
        socket.end(part, 'latin1');
        return undefined;
      };
      const { upstream, gateway } = await pair(
        (sent) => (sent.complete ? end(sent) : undefined),
        { plane },
        (sent) => (sent.complete ? end(sent) : undefined),
      );
      expect((await sendRaw(gateway.port, request(method, '/echo'))).statuses).toEqual([502]);
      expect(upstream.requests).toHaveLength(tried);
    });

    it('within the body: the response is aborted', async () => {
      const part = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello';
      const end = ({ socket }: RawRequest): undefined => {
        socket.end(part, 'latin1');
        return undefined;
      };
      const { upstream, gateway } = await pair(
        (sent) => (sent.complete ? end(sent) : undefined),
        { plane },
        (sent) => (sent.complete ? end(sent) : undefined),
      );
      const answer = await sendRaw(gateway.port, request(method, '/echo'));
      expect(answer).toMatchObject({ statuses: [200], closed: true });
      expect(answer.text.endsWith('\r\n\r\nhello')).toBe(true);
      expect(upstream.requests).toHaveLength(1);
    });
  });

  describe('SMG-22, SMG-23: octets outside a response', () => {
    it.each([
      ['after a response', `${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen`],
      ['after a response without a body', 'HTTP/1.1 204 No Content\r\n\r\nstolen'],
      [
        'after the last chunk',
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nstolen',
      ],
    ])('%s reach no client, and close the connection', async (_name, answer) => {
      const { upstream, gateway } = await pair(() => answer, { plane });
      for (let count = 0; count < 3; count += 1)
        expect((await sendRaw(gateway.port, get())).text).not.toContain('stolen');
      await until(() => upstream.sockets.size === 0);
    });

    it('on an idle connection reach no client, and close it', async () => {
      const { upstream, gateway } = await pair(() => OK, { plane });
      await sendRaw(gateway.port, get());
      const [first] = upstream.sockets;
      first?.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen', 'latin1');
      await until(() => upstream.sockets.size === 0);
      expect((await sendRaw(gateway.port, get())).text).not.toContain('stolen');
    });
  });

  it('FWD-5: a response is read in the same way wherever it is split', async () => {
    const whole =
      'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:2\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nX-T: 1\r\n\r\n';
    let cut = 0;
    const { gateway } = await pair(
      ({ socket }) => {
        const rest = whole.slice(cut);
        socket.write(whole.slice(0, cut), 'latin1', () => setImmediate(() => socket.write(rest, 'latin1')));
        return undefined;
      },
      { plane },
    );
    for (cut = 1; cut < whole.length; cut += 1) {
      const { text, statuses } = await sendRaw(gateway.port, get());
      expect([cut, statuses]).toEqual([cut, [200]]);
      expect([cut, contentOf(text)]).toEqual([cut, 'hello!']);
      expect(text).toMatch(/\r\nx-a: 1\r\nx-a: 2\r\n/);
      expect(text).not.toContain('X-T');
    }
  });

  it.each(['GET', 'POST', 'PATCH'])(
    'FWD-16: a %s runs once, on another connection, if a reset of its connection arrives in the same turn',
    async (method) => {
      const { upstream, gateway } = await pair(() => OK, { plane });
      const client = connect(gateway.port, '127.0.0.1');
      let text = '';
      client.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      const answers = (count: number) => until(() => text.split('HTTP/1.1 200 OK').length > count);
      for (let count = 1; count <= 20; count += 1) {
        client.write(get(`/echo/${count}`), 'latin1');
        await answers(2 * count - 1);
        for (let turns = 0; turns < 5; turns += 1) await turn();
        expect(upstream.sockets.size).toBe(1);
        client.write(get(`/echo/then-${count}`, ['Content-Length: 0'], method), 'latin1');
        // After the request, and read in the same turn.
        for (const socket of upstream.sockets) socket.resetAndDestroy();
        await answers(2 * count);
        for (let turns = 0; turns < 5; turns += 1) await turn();
      }
      client.destroy();
      const sent = upstream.requests.map(pathOf);
      expect(sent).toHaveLength(40);
      expect(new Set(sent).size).toBe(40);
    },
  );
});

function contentOf(text: string): string {
  let content = '';
  let at = text.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (size === 0) return content;
    content += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}
