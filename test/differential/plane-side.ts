// One side of the comparison in this process: a gateway on one plane, its upstream, and a client.
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { PlaneName } from '../../gateway/plan/bounds.ts';
import { type RawRequest, startUpstream } from '../plane/raw-sockets.ts';
import { answersIn, type ComparedMessage, comparedRequest } from './messages.ts';
import { type AccessLine, startWholeGateway, type WholeGateway } from './whole-gateway.ts';

/** Octets as Latin-1 text. Each message is sent in two pieces, cut at an offset from 0 to its length. */
export interface Case {
  readonly request: string;
  readonly cut: number;
  /** The upstream's response to each request. */
  readonly answer: string;
  readonly answerCut: number;
  /** The upstream responds at each head, and the client sends its second piece after that. */
  readonly isEarly: boolean;
  /** The upstream closes its connection after the response. */
  readonly upstreamEnds: boolean;
  /** The number of responses. Undefined: it depends on how `request` is read. */
  readonly answers: number | undefined;
  /** The client's action when nothing more arrives. `keep`: the next case uses an open connection. */
  readonly leaves: 'keep' | 'end' | 'destroy' | 'reset';
}

/** A usual request and response in one piece, on their own connection. */
export const USUAL: Case = {
  request: 'GET /echo HTTP/1.1\r\nHost: api.example.com\r\n\r\n',
  answer: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  ...{ cut: 0, answerCut: 0, isEarly: false, upstreamEnds: true, answers: undefined, leaves: 'destroy' },
};

/** Must be equal on both planes. */
export interface Seen {
  readonly answers: readonly ComparedMessage[];
  readonly closed: boolean;
  readonly upstream: readonly ComparedMessage[];
  readonly lines: readonly AccessLine[];
}

export interface PlaneSide extends AsyncDisposable {
  readonly gateway: WholeGateway;
  readonly ask: (one: Case) => Promise<Seen>;
}

/** Idle turns of the event loop, after which nothing more arrives: all octets stay in this process. */
const QUIET_TURNS = 16;
/** The same once all expected octets have arrived. */
const SETTLED_TURNS = 6;
const LONGEST_CASE_MS = 20_000;
const LONGEST_UNHEARD_MS = 50;

interface ClientConnection {
  readonly socket: Socket;
  text: string;
  isEnded: boolean;
}

export async function openPlaneSide(plane: PlaneName, issuer: string): Promise<PlaneSide> {
  let current: Case | undefined;
  let isAllSent = false;
  let activity = 0;
  const waiting: RawRequest[] = [];
  let kept: ClientConnection | undefined;

  async function writeInTwo(socket: Socket, text: string, cut: number, between: () => Promise<void>) {
    const place = cut % (text.length + 1);
    if (place > 0) socket.write(text.slice(0, place), 'latin1');
    if (place === text.length) return;
    if (place > 0) await between();
    if (socket.writable) socket.write(text.slice(place), 'latin1');
    activity += 1;
  }

  async function answer({ socket }: RawRequest, { answer: text, answerCut, upstreamEnds }: Case) {
    await writeInTwo(socket, text, answerCut, twoTurns);
    if (upstreamEnds) socket.end();
  }
  const onHead = (request: RawRequest): undefined => {
    activity += 1;
    if (current === undefined) return undefined;
    if (current.isEarly || (request.complete && isAllSent)) void answer(request, current);
    else if (request.complete) waiting.push(request);
    return undefined;
  };
  const onBody = (request: RawRequest): undefined => {
    activity += 1;
    if (current?.isEarly === false && request.complete) {
      if (isAllSent) void answer(request, current);
      else waiting.push(request);
    }
    return undefined;
  };
  await using stack = new AsyncDisposableStack();
  const upstream = stack.adopt(await startUpstream(onHead, onBody), (started) => started.stop());
  const gateway = stack.use(await startWholeGateway(plane, { ISSUER: issuer, SERVICE: upstream.origin }));

  async function quiet(turns: number): Promise<void> {
    for (let left = turns; left > 0; left -= 1) {
      const before = activity;
      await turn();
      if (activity !== before) left = turns;
    }
  }

  /** Waits for the start of the response to the first piece. Some cases have none before the second piece. */
  async function heard(client: ClientConnection): Promise<void> {
    const late = performance.now() + LONGEST_UNHEARD_MS;
    while (client.text === '' && !client.isEnded && performance.now() < late) await turn();
    await quiet(QUIET_TURNS);
  }

  async function open(): Promise<ClientConnection> {
    const socket = connect(gateway.port, '127.0.0.1');
    const opened: ClientConnection = { socket, text: '', isEnded: false };
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    const onEnd = (): void => {
      activity += 1;
      opened.isEnded = true;
    };
    socket.on('end', onEnd);
    socket.on('close', onEnd);
    socket.on('data', (chunk) => {
      activity += 1;
      opened.text += chunk.toString('latin1');
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    return opened;
  }

  async function untilAnswered(client: ClientConnection, one: Case, methods: readonly string[]) {
    const late = performance.now() + LONGEST_CASE_MS;
    for (let seen = ''; !client.isEnded; ) {
      await turn();
      if (client.text !== seen && answersIn(client.text, methods).whole >= (one.answers ?? 0)) return;
      seen = client.text;
      if (performance.now() > late)
        throw new Error(`no answer on the ${plane} plane: ${JSON.stringify(one)}`);
    }
  }

  async function ask(one: Case): Promise<Seen> {
    current = one;
    isAllSent = false;
    const client = kept ?? (await open());
    const { socket } = client;
    kept = undefined;
    client.text = '';
    const methods = [one.request.slice(0, one.request.indexOf(' '))];
    await writeInTwo(socket, one.request, one.cut, one.isEarly ? () => heard(client) : twoTurns);
    isAllSent = true;
    for (const request of waiting.splice(0)) void answer(request, one);
    if (one.answers === undefined) await quiet(QUIET_TURNS);
    else {
      await untilAnswered(client, one, methods);
      await quiet(SETTLED_TURNS);
    }
    const closed = client.isEnded;
    if (one.leaves === 'keep' && !closed) kept = client;
    else {
      if (one.leaves === 'end' && !closed) {
        socket.end();
        await quiet(SETTLED_TURNS);
      }
      if (one.leaves === 'reset') socket.resetAndDestroy();
      else socket.destroy();
      await quiet(SETTLED_TURNS);
    }
    return {
      answers: answersIn(client.text, methods).answers,
      closed,
      upstream: upstream.requests.splice(0).map(comparedRequest),
      lines: gateway.accessLines(),
    };
  }

  const moved = stack.move();
  return {
    gateway,
    ask,
    async [Symbol.asyncDispose]() {
      kept?.socket.destroy();
      await moved.disposeAsync();
    },
  };
}

/** By then the other side has read what was written. */
async function twoTurns(): Promise<void> {
  await turn();
  await turn();
}
