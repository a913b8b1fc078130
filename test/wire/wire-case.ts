// The type of a case: the octets to send, and its permitted outcomes.
import type { RecordedRequest } from './recorded-request.ts';
import type { Spot } from './spot.ts';

export type Outcome =
  /** The upstream got the whole request, and its response came back. */
  | 'forwarded'
  /** The same, with dot segments resolved or slashes joined by the proxy. */
  | 'normalised'
  /** A 2xx of the proxy. */
  | 'answered'
  | 'redirected'
  /** 400 to 431, 501 or 505 of the proxy. */
  | 'refused'
  /** 502, 503 or 504 of the proxy. */
  | 'unavailable'
  /** Any other status of the proxy. */
  | 'failed'
  /** The connection closed without a response. */
  | 'closed'
  /** Neither a response nor a close. */
  | 'waiting'
  /** Responses: visibly truncated. */
  | 'cut'
  /** WebSockets: a 101, and octets go both ways. */
  | 'switched';

interface Case {
  /** Unique in the suite. Letters, digits and hyphens. */
  readonly id: string;
  /** The rules of the gateway: SMG-1, VER-7, WS-3 … */
  readonly rules: readonly string[];
  readonly title: string;
  /** Permitted for a strict proxy. */
  readonly pass: readonly Outcome[];
  /** Less strict than the rules, but harmless. */
  readonly lax?: readonly Outcome[];
  /** The statuses of the rules. Another status is a note, not a failure. */
  readonly status?: readonly number[];
}

/** The upstream's behaviour in place of the default response. */
export interface Script {
  /** Latin-1. Each piece is one write. After a 101 the recorder treats the connection as a tunnel. */
  readonly pieces: (request: RecordedRequest) => readonly string[];
  /** Between two pieces. Default: 0. */
  readonly gapMs?: number;
  /** After the last piece. Default: the connection stays open. */
  readonly end?: 'fin' | 'reset';
  /** Without waiting for the body. */
  readonly early?: true;
}

export const says = (bytes: string, more: Omit<Script, 'pieces'> = {}): Script => ({
  ...more,
  pieces: () => [bytes],
});

export type FieldTest = readonly [name: string, value?: RegExp];

export interface RequestCase extends Case {
  readonly send: (spot: Spot) => string | readonly string[];
  readonly gapMs?: number;
  /** After the last piece. Default: the connection stays open. */
  readonly end?: 'fin' | 'reset';
  /** Only over TLS: the octets are HTTP/2 frames. */
  readonly http2?: true;
  /** A refusal may keep the connection open, because the framing is valid. */
  readonly staysOpen?: true;
  /** The request is incomplete, so nothing complete may reach the upstream. */
  readonly truncated?: true;
  /** The number of requests in valid octets. The first is the case's own, the others contain the canary. */
  readonly requests?: number;
  /** Their methods, for the framing of the responses. Default: GET. */
  readonly methods?: readonly string[];
  /** The body that must reach the upstream. */
  readonly body?: string;
  /** Fields that must not reach the upstream (with this value). */
  readonly withheld?: readonly FieldTest[];
  readonly kept?: readonly FieldTest[];
  /** The fields that the proxy adds to a valid request must be there. */
  readonly keepsOwnFields?: true;
  /** The path must reach the upstream unchanged, or not at all. */
  readonly readsPath?: true;
  /** The query must reach the upstream unchanged. */
  readonly query?: string;
  readonly script?: Script;
}

export interface ResponseCase extends Case {
  readonly script: Script;
  readonly method?: string;
  readonly lines?: readonly string[];
  readonly requestBody?: string;
  /** The body that must reach the client if the response is complete. */
  readonly body?: string;
  /** Only a part of the body may reach the client. A response that looks complete is a failure. */
  readonly truncated?: true;
  readonly withheld?: readonly FieldTest[];
  readonly kept?: readonly FieldTest[];
  /** How often each field of `kept` must come. Default: 1. */
  readonly times?: number;
  /** The most tries at the upstream. Default: 1, because only a lost, safe request may be repeated. */
  readonly tries?: number;
}

export interface WebsocketCase extends Case {
  /** The handshake. Default: a valid one. */
  readonly send?: (spot: Spot) => string | readonly string[];
  readonly gapMs?: number;
  /** Default: a valid 101 and a tunnel. */
  readonly script?: Script;
  /** Octets that the client sends after the response, which only an upstream that has switched may get. */
  readonly after?: string;
  readonly staysOpen?: true;
  readonly withheld?: readonly FieldTest[];
  readonly kept?: readonly FieldTest[];
  /** Fields of the response. */
  readonly answered?: readonly FieldTest[];
}

/** The first forty octets one by one, then the rest: each gap may become a timeout on a busy machine. */
export const byteByByte = (text: string): readonly string[] => [...text.slice(0, 40), text.slice(40)];
