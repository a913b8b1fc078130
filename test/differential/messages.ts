// Parses requests and responses for comparison: heads in a fixed order, bodies without framing.
import type { RawRequest } from '../plane/raw-sockets.ts';

/** The start line, the field lines sorted by name, and the content of the body. */
export type ComparedMessage = readonly [head: readonly string[], content: string];

export const CLIENT_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Appended to the content of an incomplete body. */
export const CUT = ' (cut)';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** In a body. */
const TIMES = /"timestamp":"[^"]*"|Retry in \d+ seconds|"retryAfter":\d+/g;
/** The identifiers of a traceparent that differ in each request. */
const MADE_IDS = new RegExp(
  `(?<=^00-)(?!${CLIENT_TRACE})[0-9a-f]{32}|(?<=^00-[0-9a-f]{32}-)[0-9a-f]{16}`,
  'g',
);
/** Fields that end with remaining seconds. */
const SECONDS: ReadonlySet<string> = new Set(['x-ratelimit-reset', 'ratelimit', 'retry-after']);

export interface FoundBody {
  readonly content: string;
  readonly octets: number;
  readonly isWhole: boolean;
}

function lineOf(line: string): string | undefined {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon).toLowerCase();
  const value = line.slice(colon + 1).replace(/^ /, '');
  if (name === 'keep-alive' || name === 'date') return undefined;
  if (name === 'connection' && value.toLowerCase() === 'keep-alive') return undefined;
  if (name === 'traceparent') return `traceparent: ${value.replace(MADE_IDS, '')}`;
  if (name === 'host' && value.startsWith('127.0.0.1:')) return 'host: the upstream';
  return `${name}: ${SECONDS.has(name) ? value.replace(/\d+$/, 'n') : value}`;
}

export function comparedHead(text: string): readonly string[] {
  const [start = '', ...lines] = text.split('\r\n');
  const compared = lines.map(lineOf).filter((line) => line !== undefined);
  return [start, ...compared.toSorted()].map((line) => line.replaceAll(UUID, 'uuid'));
}

/** The body at the start of `rest`, after `head`. */
export function bodyBehind(head: string, rest: string, isHead: boolean): FoundBody {
  if (isHead || /^HTTP\/1\.1 (?:1|204|304)/.test(head)) return { content: '', octets: 0, isWhole: true };
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) {
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    const octets = length === undefined ? 0 : Number(length);
    return { content: rest.slice(0, octets), octets, isWhole: rest.length >= octets };
  }
  return chunkedBody(rest);
}

/** The chunked body at the start of `rest`, with its trailers. */
export function chunkedBody(rest: string): FoundBody {
  let content = '';
  let at = 0;
  for (;;) {
    const line = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.slice(at, line), 16);
    const cut = { content, octets: rest.length, isWhole: false };
    if (line < 0 || !(size >= 0)) return cut;
    if (size === 0) {
      const end = rest.indexOf('\r\n\r\n', line);
      return end < 0 ? cut : { content, octets: end + 4, isWhole: true };
    }
    content += rest.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}

export interface FoundAnswers {
  readonly answers: readonly ComparedMessage[];
  /** Complete final responses. */
  readonly whole: number;
}

/** All responses in `text`, to requests with `methods`. The last may be incomplete. */
export function answersIn(text: string, methods: readonly string[]): FoundAnswers {
  const answers: ComparedMessage[] = [];
  let whole = 0;
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers: [...answers, [[rest], CUT]], whole };
    const head = rest.slice(0, end);
    rest = rest.slice(end + 4);
    const { content, octets, isWhole } = bodyBehind(head, rest, methods[whole] === 'HEAD');
    answers.push([comparedHead(head), comparedContent(content) + (isWhole ? '' : CUT)]);
    if (isWhole && !/^HTTP\/1\.1 1/.test(head)) whole += 1;
    rest = rest.slice(octets);
  }
  return { answers, whole };
}

function comparedContent(content: string): string {
  return content.replaceAll(UUID, 'uuid').replaceAll(TIMES, '');
}

export function comparedRequest({ head, body, complete }: RawRequest): ComparedMessage {
  const content = /\r\ntransfer-encoding/i.test(head) ? chunkedBody(body).content : body;
  // undici adds `Connection: close` to each HEAD.
  const lines = comparedHead(head).filter((line) => line !== 'connection: close');
  return [lines, complete ? content : content + CUT];
}
