// Request and response between two processes of this program over a message channel.

export type Answers = Readonly<Record<string, (asked: never) => unknown>>;

type QuestionOf<F> = F extends (asked: infer A) => unknown ? A : never;
type ReplyOf<F> = F extends (asked: never) => infer R ? Awaited<R> : never;

/** Rejects with `PeerGone`, or with an Error that has the message of the remote error. */
export type Peer<Theirs> = <N extends keyof Theirs & string>(
  name: N,
  asked: QuestionOf<Theirs[N]>,
) => Promise<ReplyOf<Theirs[N]>>;

export interface PeerConnection {
  readonly peer: <Theirs>() => Peer<Theirs>;
  /** Rejects all pending and later calls with `PeerGone`. */
  readonly lost: (how: string) => void;
}

export interface Wire {
  readonly send: (message: object) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
}

export class PeerGone extends Error {}

type Message =
  | { readonly kind: 'ask'; readonly id: number; readonly name: string; readonly asked: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly message: string };

/** Messages arrive in the order in which they were sent. */
export function connectPeer(wire: Wire, answers: Answers): PeerConnection {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let gone: PeerGone | undefined;

  const lost = (how: string): void => {
    gone ??= new PeerGone(how);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  };
  const send = (message: Message): void => {
    if (gone !== undefined) return;
    try {
      wire.send(message);
    } catch (error) {
      lost(messageOf(error));
    }
  };
  const reply = async ({ id, name, asked: what }: Extract<Message, { kind: 'ask' }>): Promise<void> => {
    try {
      const answer = answers[name] as ((given: unknown) => unknown) | undefined;
      if (answer === undefined) throw new Error(`no handler for ${name}`);
      send({ kind: 'answer', id, value: await answer(what) });
    } catch (error) {
      send({ kind: 'failure', id, message: messageOf(error) });
    }
  };

  wire.onMessage((received) => {
    // Both processes run this program.
    const message = received as Message;
    if (message.kind === 'ask') {
      void reply(message);
      return;
    }
    const settle = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === 'answer') settle?.resolve(message.value);
    else settle?.reject(new Error(message.message));
  });

  return {
    peer:
      <Theirs>(): Peer<Theirs> =>
      <N extends keyof Theirs & string>(name: N, what: QuestionOf<Theirs[N]>) => {
        if (gone !== undefined) return Promise.reject(gone);
        lastId += 1;
        const flight = Promise.withResolvers<unknown>();
        waiting.set(lastId, flight);
        send({ kind: 'ask', id: lastId, name, asked: what });
        return flight.promise as Promise<ReplyOf<Theirs[N]>>;
      },
    lost,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
