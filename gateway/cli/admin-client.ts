// Sends the calls of a command to the admin listener of a running gateway, bounded in time and size.
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { nextCommand } from '../plan/next-command.ts';
import {
  type AdminResponse,
  type ApiCall,
  type CallError,
  failure,
  type GatewayClient,
  type ListenerPage,
} from './admin-call.ts';
import { connectionFault } from './connection-words.ts';
import {
  type AdminAddress,
  type AdminToken,
  findGateway,
  findProbe,
  type WhichGateway,
} from './running-gateway.ts';
import { printable } from './terminal-text.ts';

const TIMEOUT_MS = 5_000;
/** Enough for a gateway with ten thousand versions. */
const MAX_BYTES = 32 * 1024 * 1024;

export function openGateway({
  format = 'text',
  ...which
}: WhichGateway & { readonly format?: GatewayClient['format'] }): GatewayClient {
  let found: Promise<AdminAddress | CallError> | undefined;
  return {
    ask: async (request) => {
      found ??= findGateway(which);
      const address = await found;
      return address.kind === 'failed' ? address : ask(address, request);
    },
    readiness: async () => {
      const probe = await findProbe(which);
      return probe.kind === 'failed' ? probe : getPage(probe.origin, '/-/ready');
    },
    format,
    next: nextCommand(which),
  };
}

async function ask(address: AdminAddress, request: ApiCall): Promise<AdminResponse | CallError> {
  const { origin } = address;
  const needsToken = request.method !== 'GET' || !address.local;
  const token = needsToken ? await address.token() : undefined;
  if (token?.kind === 'failed') return token;
  try {
    // Another program on that port must not receive the token.
    const hello = await send(origin, { method: 'GET', path: '/-/healthy' }, undefined);
    if (hello.status !== 200 || member(hello.body, 'status') !== 'healthy') return notAdmin(origin);
    const received = await send(origin, request, token?.value);
    return received.status === request.also
      ? { kind: 'answered', body: received.body }
      : judge(received, request, token);
  } catch (error) {
    return unreachable(origin, error, request.withinMs);
  }
}

async function getPage(origin: string, path: string): Promise<ListenerPage | CallError> {
  try {
    return await send(origin, { method: 'GET', path }, undefined);
  } catch (error) {
    return unreachable(origin, error);
  }
}

const ITS_TOKEN = 'it uses listeners.admin.token of its gateway file, or the token in its data folder';

function judge(
  { origin, status, body }: ListenerPage,
  request: ApiCall,
  token: AdminToken | undefined,
): AdminResponse | CallError {
  if (status >= 200 && status < 300) return { kind: 'answered', body };
  if (status === 401 && token !== undefined)
    return failure(1, `the gateway at ${origin} refuses the token from ${token.from}; ${ITS_TOKEN}`);
  const message = member(body, 'message');
  if (typeof message !== 'string') return notAdmin(origin);
  const problems = member(body, 'problems');
  return failure(1, Array.isArray(problems) ? inOptionWords(problems, request.body ?? {}) : message);
}

/** Members of a body that are arguments, or options with another name. */
const WRITTEN_AS: Readonly<Record<string, string>> = {
  api: '<api>',
  consumer: '<consumer>',
  scopes: '--scope',
  version: '<version>',
};

/** Replaces member names in the messages with the options that set them. */
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

function notAdmin(origin: string): CallError {
  return failure(3, `the server at ${origin} is not the admin listener of a Sundial gateway`);
}

function unreachable(origin: string, error: unknown, withinMs = TIMEOUT_MS): CallError {
  return failure(
    3,
    `no gateway answers at ${origin}: ${connectionFault(error, withinMs / 1_000)}${cureOf(origin, error)}`,
  );
}

function cureOf(origin: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET' && origin.startsWith('http:')) return '; if it uses TLS, write https://';
  return /CERT|SIGNATURE/.test(code) ? '; set NODE_EXTRA_CA_CERTS=<file> to trust its authority' : '';
}

async function send(
  origin: string,
  { method, path, body, withinMs = TIMEOUT_MS }: ApiCall,
  token: string | undefined,
): Promise<ListenerPage> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
  };
  const url = new URL(origin);
  const { promise, resolve, reject } = Promise.withResolvers<ListenerPage>();
  const make = url.protocol === 'https:' ? tlsRequest : plainRequest;
  // The path stays outside the URL, because the URL parser would resolve encoded dots.
  const request = make(
    url,
    { method, path, headers, agent: false, signal: AbortSignal.timeout(withinMs) },
    (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_BYTES) response.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      response.once('end', () =>
        resolve({
          kind: 'page',
          origin,
          status: response.statusCode ?? 0,
          body: parsed(Buffer.concat(chunks).toString()),
        }),
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
