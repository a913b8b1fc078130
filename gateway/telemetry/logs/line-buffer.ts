// A buffer for log lines as bytes, with a fixed size, reused for each batch.

export interface LineBuffer {
  readonly length: () => number;
  readonly bytes: (bytes: Uint8Array) => void;
  /** ASCII. Truncated at the end of the buffer. */
  readonly text: (ascii: string) => void;
  /** Writes at most `cap` characters of `text` as a JSON string. */
  readonly string: (text: string, cap: number) => void;
  /** Not negative. `width`: the minimum number of digits. */
  readonly integer: (value: number, width?: number) => void;
  /** Milliseconds, not negative, with microsecond precision. */
  readonly duration: (milliseconds: number) => void;
  /** Returns a copy of the content and empties the buffer. */
  readonly take: () => Buffer;
}

/** Not called as a method, because V8 cannot cache the look-up across representations of strings. */
const { charCodeAt } = String.prototype;
const [QUOTE, POINT, ZERO, BACKSLASH] = [0x22, 0x2e, 0x30, 0x5c] as const;

export function createLineBuffer(capacity: number): LineBuffer {
  const buffer = Buffer.allocUnsafeSlow(capacity);
  let end = 0;

  const octet = (value: number): void => {
    buffer[end] = value;
    end += 1;
  };
  const text = (ascii: string): void => {
    end += buffer.write(ascii, end, 'latin1');
  };
  /** Writes `value` unless a character needs an escape. Returns whether it did. */
  const plain = (value: string, length: number): boolean => {
    const start = end + 1;
    for (let at = 0; at < length; at += 1) {
      const code = charCodeAt.call(value, at);
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) return false;
      buffer[start + at] = code;
    }
    octet(QUOTE);
    end += length;
    octet(QUOTE);
    return true;
  };
  const integer = (value: number, width = 1): void => {
    const last = value % 10;
    if (value >= 10 || width > 1) integer((value - last) / 10, width - 1);
    octet(ZERO + last);
  };

  return {
    length: () => end,
    bytes: (bytes) => {
      buffer.set(bytes, end);
      end += bytes.length;
    },
    text,
    string: (value, cap) => {
      const { length } = value;
      if (length > cap || !plain(value, length)) text(jsonString(value, cap));
    },
    integer,
    duration: (milliseconds) => {
      const microseconds = Math.round(milliseconds * 1000);
      let rest = microseconds % 1000;
      integer((microseconds - rest) / 1000);
      if (rest === 0) return;
      octet(POINT);
      let digits = 3;
      for (; rest % 10 === 0; rest /= 10) digits -= 1;
      integer(rest, digits);
    },
    take: () => {
      const taken = Buffer.from(buffer.subarray(0, end));
      end = 0;
      return taken;
    },
  };
}

const OUTSIDE_ASCII = /[^\n -~]/g;

/** At most `cap` characters of `text`, before escaping, as a JSON string. Truncated text ends in an ellipsis. */
export function jsonString(text: string, cap: number): string {
  const kept = text.length > cap ? `${text.slice(0, cap)}…` : text;
  return asciiJson(JSON.stringify(kept));
}

/**
 * Escapes all non-ASCII characters in JSON text. JSON permits DEL, C1 controls, U+2028 and bidirectional overrides
 * unescaped, but some log viewers do not handle them.
 */
export function asciiJson(json: string): string {
  return json.replace(OUTSIDE_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
