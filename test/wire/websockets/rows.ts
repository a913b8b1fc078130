// The valid handshake, its response and a frame, which the WebSocket tables vary.
import { createHash } from 'node:crypto';
import { holds, valuesOf } from '../field-lines.ts';
import type { RecordedRequest } from '../recorded-request.ts';
import { ordinaryAnswer } from '../recorder.ts';
import type { Spot } from '../spot.ts';
import type { Script } from '../wire-case.ts';

export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
/** A masked text frame, "hi". */
export const FRAME = '\x81\x82\x01\x02\x03\x04ik';

const LINES: Readonly<Record<string, string>> = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': KEY,
};

/** The lines of a valid handshake with changes. Undefined removes a line. */
export function lines(
  changed: Readonly<Record<string, string | undefined>> = {},
  ...more: readonly string[]
): string[] {
  const all: Readonly<Record<string, string | undefined>> = { ...LINES, ...changed };
  return [
    ...Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`])),
    ...more,
  ];
}

export const handshake = (w: Spot): string => w.get(lines());

function acceptOf({ fields }: RecordedRequest): string {
  const [key = ''] = valuesOf(fields, 'sec-websocket-key');
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

export interface Switching {
  readonly status?: string;
  /** Undefined removes the line. */
  readonly upgrade?: string | undefined;
  readonly connection?: string | undefined;
  readonly accept?: (right: string) => string | undefined;
  readonly more?: readonly string[];
  readonly after?: string;
}

/** A 101 with changes, after which the upstream behaves as if it had switched. */
export function switches(changed: Switching = {}, how: Omit<Script, 'pieces'> = {}): Script {
  const {
    status = '101 Switching Protocols',
    accept = (right: string) => right,
    more = [],
    after = '',
  } = changed;
  const upgrade = 'upgrade' in changed ? changed.upgrade : 'websocket';
  const connection = 'connection' in changed ? changed.connection : 'Upgrade';
  return {
    ...how,
    pieces: (request) => {
      const accepted = accept(acceptOf(request));
      const head = [
        `HTTP/1.1 ${status}`,
        'X-Upstream: suite',
        ...(upgrade === undefined ? [] : [`Upgrade: ${upgrade}`]),
        ...(connection === undefined ? [] : [`Connection: ${connection}`]),
        ...(accepted === undefined ? [] : [`Sec-WebSocket-Accept: ${accepted}`]),
        ...more,
      ];
      return [`${head.join('\r\n')}\r\n\r\n${after}`];
    },
  };
}

/** Switches if asked to, and otherwise responds as usual. */
export const OBLIGING: Script = {
  pieces: (request) =>
    holds(request.fields, ['upgrade', /^websocket$/i])
      ? switches().pieces(request)
      : [ordinaryAnswer(request)],
};
