// Parses and sends the curl commands of the README without curl; any unknown syntax is an error.
import { type Answer, type Client, overHttp1 } from './http-client.ts';

export interface CurlCommand {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly insecure: boolean;
  /** One URL, or one per number of a range such as `[1-90]`. */
  readonly urls: readonly URL[];
  /** The status codes in the comment at the end of the line. */
  readonly expected: readonly number[];
}

const PLAIN_FLAGS = ['-k', '-i', '-s'];
const FLAGS_WITH_VALUE = ['-X', '-H', '-d', '-o', '-w'];

/** @throws Error for an unknown flag, quote or word */
export function parseCurl(line: string, substitute: (command: string) => string): CurlCommand {
  const { words, comment } = splitWords(line, substitute);
  const headers: Record<string, string> = {};
  const addresses: string[] = [];
  let method: string | undefined;
  let body: string | undefined;
  let insecure = false;
  if (words[0] !== 'curl') throw new Error(`not a curl line: ${line}`);
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word.startsWith('-') && !PLAIN_FLAGS.includes(word) && !FLAGS_WITH_VALUE.includes(word)) {
      throw new Error(`unknown flag ${word}: ${line}`);
    }
    if (word === '-k') insecure = true;
    if (!word.startsWith('-')) addresses.push(word);
    if (!FLAGS_WITH_VALUE.includes(word)) continue;
    index += 1;
    const value = words[index];
    if (value === undefined) throw new Error(`${word} without a value: ${line}`);
    if (word === '-X') method = value;
    if (word === '-d') body = value;
    if (word === '-H')
      headers[value.slice(0, value.indexOf(':'))] = value.slice(value.indexOf(':') + 1).trim();
  }
  const [address] = addresses;
  if (address === undefined || addresses.length > 1) throw new Error(`not one URL: ${line}`);
  const expected = Array.from(comment.matchAll(/\b[1-5]\d\d\b/g), Number);
  method ??= body === undefined ? 'GET' : 'POST';
  return { method, headers, body, insecure, urls: unfold(address), expected };
}

/** Sends the requests in turn without following redirects. `portOf` maps ports in the text to real ones. */
export async function sendCurl(
  { method, headers, body, insecure, urls }: CurlCommand,
  portOf: (written: number) => number,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let client: Client | undefined;
  try {
    for (const { protocol, hostname, port, pathname, search } of urls) {
      if (hostname !== '127.0.0.1') throw new Error(`${hostname} is not this machine`);
      const tls = protocol === 'https:';
      if (tls && !insecure) throw new Error('a certificate of our own needs -k');
      const actual = portOf(Number(port));
      client ??= overHttp1(actual, { tls });
      const path = `${pathname}${search}`;
      const host = `127.0.0.1:${actual}`;
      answers.push(
        await client.ask({
          path,
          method,
          headers: { host, ...headers },
          ...(body !== undefined && { body }),
        }),
      );
    }
    return answers;
  } finally {
    await client?.[Symbol.asyncDispose]();
  }
}

/** Splits words like a shell: '…' literally, "…" and bare words with $(…) replaced, # starts a comment. */
function splitWords(
  line: string,
  substitute: (command: string) => string,
): { readonly words: readonly string[]; readonly comment: string } {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== '' && !rest.startsWith('#')) {
    const word = /^(?:'[^']*'|"(?:\$\([^)]*\)|[^"$`\\])*"|[^\s'"$`\\])+/.exec(rest)?.[0];
    if (word === undefined) throw new Error(`cannot read: ${rest}`);
    words.push(
      word.replace(/'([^']*)'|"((?:\$\([^)]*\)|[^"])*)"/g, (_, single?: string, double = '') =>
        single === undefined
          ? double.replace(/\$\(([^)]*)\)/g, (_whole: string, command: string) => substitute(command))
          : single,
      ),
    );
    rest = rest.slice(word.length);
    if (rest !== '' && !/^\s/.test(rest)) throw new Error(`cannot read: ${rest}`);
    rest = rest.trimStart();
  }
  return { words, comment: rest };
}

function unfold(address: string): readonly URL[] {
  const range = /\[(\d+)-(\d+)\]/.exec(address);
  if (range === null) return [new URL(address)];
  const [whole, first, last] = range;
  const count = Number(last) - Number(first) + 1;
  return Array.from(
    { length: count },
    (_, index) => new URL(address.replace(whole, String(Number(first) + index))),
  );
}
