// Asks the admin listener of a running gateway, for the commands that read or change what lives there.
// Bounded in time and size; whatever goes wrong comes back as a sentence and an exit code.
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connectionFault } from './connection-words.ts';
import {
  type AdminDoor,
  type AdminToken,
  type Failure,
  failure,
  findGateway,
  type WhichGateway,
} from './running-gateway.ts';
import { printable } from './terminal-text.ts';

export interface AdminAsk {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Segments percent-encoded. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** A status besides 2xx whose body is what was asked for. */
  readonly also?: number;
  /** Milliseconds, for what takes a gateway longer than most. */
  readonly withinMs?: number;
}

/** The gateway did what was asked. */
export interface Answered {
  readonly kind: 'answered';
  readonly body: unknown;
}

const TIMEOUT_MS = 5_000;
/** Room for what a gateway with ten thousand versions tells of each. */
const MOST_BYTES = 32 * 1024 * 1024;

export async function askAdmin(door: AdminDoor, ask: AdminAsk): Promise<Answered | Failure> {
  const needsToken = ask.method !== 'GET' || !door.local;
  const token = needsToken ? await door.token() : undefined;
  if (token?.kind === 'failed') return token;
  try {
    // Another program on that port shall not be handed the token.
    const hello = await send(door.origin, { method: 'GET', path: '/-/healthy' }, undefined);
    if (hello.status !== 200 || member(hello.body, 'status') !== 'healthy') return notAdmin(door.origin);
    const { status, body } = await send(door.origin, ask, token?.value);
    return status === ask.also ? { kind: 'answered', body } : judge(door.origin, ask, token, status, body);
  } catch (error) {
    return unreachable(door.origin, error, ask.withinMs);
  }
}

/** The same of the gateway that is meant. */
export async function askGateway(which: WhichGateway, ask: AdminAsk): Promise<Answered | Failure> {
  const door = await findGateway(which);
  return door.kind === 'failed' ? door : askAdmin(door, ask);
}

/** One open page of a listener, whatever its status. */
export async function askPage(
  origin: string,
  path: string,
): Promise<(Received & { kind: 'received' }) | Failure> {
  try {
    return { kind: 'received', ...(await send(origin, { method: 'GET', path }, undefined)) };
  } catch (error) {
    return unreachable(origin, error);
  }
}

/** What answers at `origin` speaks another language. */
export function stranger(origin: string): Failure {
  return failure(3, `what answers at ${origin} is no Sundial gateway`);
}

/** One segment of a path; `.` and `..` would otherwise be steps. */
export function segment(text: string): string {
  return encodeURIComponent(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'));
}

const ITS_TOKEN =
  'it takes listeners.admin.token of its gateway file, or else the one in the data folder it was started with';

function judge(
  origin: string,
  ask: AdminAsk,
  token: AdminToken | undefined,
  status: number,
  body: unknown,
): Answered | Failure {
  if (status >= 200 && status < 300) return { kind: 'answered', body };
  if (status === 401 && token !== undefined)
    return failure(1, `the gateway at ${origin} does not take the token from ${token.from}; ${ITS_TOKEN}`);
  const message = member(body, 'message');
  if (typeof message !== 'string') return notAdmin(origin);
  const problems = member(body, 'problems');
  return failure(1, Array.isArray(problems) ? inOptionWords(problems, ask.body ?? {}) : message);
}

/** Members of a body that are arguments of the command, or an option of another name. */
const WRITTEN_AS: Readonly<Record<string, string>> = {
  api: '<api>',
  consumer: '<consumer>',
  scopes: '--scope',
  version: '<version>',
};

/** Sentences about members of `body`, as sentences about the options that they came from. */
function inOptionWords(problems: readonly unknown[], body: Readonly<Record<string, unknown>>): string {
  const sentences = problems.map((problem) =>
    String(problem).replace(/^"(\w+)(?:\.(\d+))?": /, (_whole, name: string, index: string | undefined) => {
      const given = index === undefined ? undefined : member(body[name], index);
      const shown = typeof given === 'string' ? ` ${printable(given)}` : '';
      return `${WRITTEN_AS[name] ?? `--${name}`}${shown}: `;
    }),
  );
  return sentences.join('; ');
}

function notAdmin(origin: string): Failure {
  return failure(3, `what answers at ${origin} is not the admin listener of a Sundial gateway`);
}

function unreachable(origin: string, error: unknown, withinMs = TIMEOUT_MS): Failure {
  return failure(
    3,
    `no gateway answers at ${origin}: ${connectionFault(error, withinMs / 1_000)}${cureOf(origin, error)}`,
  );
}

function cureOf(origin: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET' && origin.startsWith('http:')) return '; where TLS is spoken write https://';
  return /CERT|SIGNATURE/.test(code) ? '; NODE_EXTRA_CA_CERTS=<file> adds an authority' : '';
}

interface Received {
  readonly status: number;
  /** Undefined for what is no JSON. */
  readonly body: unknown;
}

async function send(
  origin: string,
  { method, path, body, withinMs = TIMEOUT_MS }: AdminAsk,
  token: string | undefined,
): Promise<Received> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
  };
  const url = new URL(origin);
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const make = url.protocol === 'https:' ? tlsRequest : plainRequest;
  // The path apart from the URL, whose parser would resolve encoded dots.
  const request = make(
    url,
    { method, path, headers, agent: false, signal: AbortSignal.timeout(withinMs) },
    (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MOST_BYTES) response.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString()) }),
      );
      response.once('error', reject);
    },
  );
  request.once('error', reject);
  request.end(text);
  return promise;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function member(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}
