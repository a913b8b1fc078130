// The place of one case on the wire: its own path, and functions that write its octets.

export interface Spot {
  /** In each path of the case, and in no other. */
  readonly tag: string;
  readonly host: string;
  readonly path: string;
  /** The folder that the proxy forwards, without a final slash. */
  readonly prefix: string;
  /** A complete request that must not be read as one, unless the case says so. */
  readonly canary: string;
  /** A request line and header section for the path, and `body` unchanged. */
  readonly ask: (method: string, lines?: readonly string[], body?: string) => string;
  readonly get: (lines?: readonly string[], body?: string) => string;
  readonly post: (lines?: readonly string[], body?: string) => string;
  readonly line: (requestLine: string, lines?: readonly string[], body?: string) => string;
  readonly target: (target: string) => string;
}

export interface SpotOptions {
  readonly tag: string;
  readonly host: string;
  readonly prefix: string;
}

export function spotAt({ tag, host, prefix }: SpotOptions): Spot {
  const path = `${prefix}/c/${tag}`;
  const line: Spot['line'] = (requestLine, lines = [], body = '') =>
    [requestLine, `Host: ${host}`, ...lines, '', body].join('\r\n');
  const ask: Spot['ask'] = (method, lines, body) => line(`${method} ${path} HTTP/1.1`, lines, body);
  return {
    tag,
    host,
    path,
    prefix,
    canary: line(`GET ${prefix}/canary/${tag} HTTP/1.1`),
    line,
    ask,
    get: (lines, body) => ask('GET', lines, body),
    post: (lines, body) => ask('POST', lines, body),
    target: (target) => line(`GET ${target} HTTP/1.1`),
  };
}

/** A chunked body of these parts, with the last chunk. */
export function chunks(...parts: readonly string[]): string {
  return [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
}
