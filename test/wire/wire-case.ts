// What a case of the suite is: bytes to send, and how it may end. The tables beside this file hold nothing else.
// Outcomes are what both ends saw; the judges compare them with `pass` and `lax`.
import type { RecordedRequest } from './recorded-request.ts';
import type { Spot } from './spot.ts';

export type Outcome =
  /** The upstream got all of it, and the upstream's answer came back. */
  | 'forwarded'
  /** The same, after the proxy has resolved dot segments in the path or joined slashes. */
  | 'normalised'
  /** A 2xx of the proxy's own. */
  | 'answered'
  | 'redirected'
  /** 400 to 431, 501 or 505 of the proxy's own. */
  | 'refused'
  /** 502, 503 or 504 of the proxy's own. */
  | 'unavailable'
  /** Any other status of the proxy's own. */
  | 'failed'
  /** The connection ended without an answer. */
  | 'closed'
  /** Neither an answer nor an end came. */
  | 'waiting'
  /** Responses: the answer began and ended before its end, for everyone to see. */
  | 'cut'
  /** WebSockets: 101, and bytes go both ways. */
  | 'switched';

interface Case {
  /** Unique in the suite; letters, digits and hyphens. */
  readonly id: string;
  /** Rules of the gateway that the case is about: SMG-1, VER-7, WS-3 … */
  readonly rules: readonly string[];
  readonly title: string;
  /** What a strict proxy may do. */
  readonly pass: readonly Outcome[];
  /** What harms nobody here, and yet is less than the rules ask. */
  readonly lax?: readonly Outcome[];
  /** The status the rules ask for; another one is a note, not a failure. */
  readonly status?: readonly number[];
}

/** What the upstream does instead of its ordinary answer. */
export interface Script {
  /** Latin-1 pieces, each a write of its own. After a 101 the connection is a tunnel for the recorder. */
  readonly pieces: (request: RecordedRequest) => readonly string[];
  /** Between two pieces; default 0. */
  readonly gapMs?: number;
  /** After the last piece; default: the connection stays open. */
  readonly end?: 'fin' | 'reset';
  /** Without waiting for the body; default: after it. */
  readonly early?: true;
}

/** A script of fixed bytes. */
export const says = (bytes: string, more: Omit<Script, 'pieces'> = {}): Script => ({
  ...more,
  pieces: () => [bytes],
});

export type FieldTest = readonly [name: string, value?: RegExp];

export interface RequestCase extends Case {
  readonly send: (spot: Spot) => string | readonly string[];
  /** Between two pieces. */
  readonly gapMs?: number;
  /** After the last piece; default: the connection stays open. */
  readonly end?: 'fin' | 'reset';
  /** Only over TLS: the bytes are HTTP/2 frames. */
  readonly http2?: true;
  /** A refusal may leave the connection open: the request was well framed. */
  readonly staysOpen?: true;
  /** The request is not all there: nothing complete may reach the upstream. */
  readonly truncated?: true;
  /** How many requests the bytes hold when they are valid; the first is the case's own, the rest name the canary. */
  readonly requests?: number;
  /** Methods of those requests, for the framing of the answers; default GET. */
  readonly methods?: readonly string[];
  /** The body as the upstream must have it. */
  readonly body?: string;
  /** Fields that must not reach the upstream (with this value). */
  readonly withheld?: readonly FieldTest[];
  /** Fields that must reach it. */
  readonly kept?: readonly FieldTest[];
  /** The fields that the proxy adds to a clean request must be there. */
  readonly keepsOwnFields?: true;
  /** The path must reach the upstream as it was, or not at all. */
  readonly readsPath?: true;
  /** The query must reach the upstream as it was sent. */
  readonly query?: string;
  readonly script?: Script;
}

export interface ResponseCase extends Case {
  readonly script: Script;
  readonly method?: string;
  /** More lines of the request. */
  readonly lines?: readonly string[];
  readonly requestBody?: string;
  /** The body as the client must have it when the answer is whole. */
  readonly body?: string;
  /** The body is meant for the client's eyes in part only; a message that looks whole is a failure. */
  readonly truncated?: true;
  readonly withheld?: readonly FieldTest[];
  readonly kept?: readonly FieldTest[];
  /** How often each field of `kept` comes; default 1. */
  readonly times?: number;
  /** At most so many tries at the upstream; default 1, since only a safe and lost request may be sent twice. */
  readonly tries?: number;
}

export interface WebsocketCase extends Case {
  /** The handshake; default a sound one. */
  readonly send?: (spot: Spot) => string | readonly string[];
  readonly gapMs?: number;
  /** Default: a sound 101 and a tunnel. */
  readonly script?: Script;
  /** Bytes that the client sends after the answer, which must not reach an upstream that has not switched. */
  readonly after?: string;
  /** A refusal may leave the connection open. */
  readonly staysOpen?: true;
  readonly withheld?: readonly FieldTest[];
  readonly kept?: readonly FieldTest[];
  /** Fields of the answer. */
  readonly answered?: readonly FieldTest[];
}

/** The first forty of its bytes one by one, then the rest: each gap is a chance for a busy machine to take too long. */
export const byteByByte = (text: string): readonly string[] => [...text.slice(0, 40), text.slice(40)];
