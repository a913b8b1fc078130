// Finds the running gateway that a command calls, and its admin token.
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { compileSettings } from '../plan/compile/settings.ts';
import { ADMIN_TOKEN_FILE, parseAdminToken } from '../plan/grammar/listeners-section.ts';
import { contextOf, readGateway } from '../plan/load-documents.ts';
import { renderProblems, sortProblems } from '../plan/problems.ts';
import type { Environment } from '../plan/read/interpolate.ts';
import type { Address, Settings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { isLoopback } from '../policy/notation.ts';
import { type CallError, failure } from './admin-call.ts';
import { exitCodeOf } from './command-result.ts';

const TOKEN_VARIABLE = 'SUNDIAL_ADMIN_TOKEN';

export interface WhichGateway {
  readonly config: string;
  /** Origin of an admin listener, instead of the one in the gateway file. */
  readonly admin: string | undefined;
  readonly environment: Environment;
  readonly now: EpochMs;
  readonly cwd?: string;
}

export interface AdminAddress {
  readonly kind: 'address';
  readonly origin: string;
  readonly local: boolean;
  readonly token: () => Promise<AdminToken | CallError>;
}

export interface AdminToken {
  readonly kind: 'token';
  readonly value: string;
  readonly from: string;
}

export async function findGateway(which: WhichGateway): Promise<AdminAddress | CallError> {
  const { admin, environment } = which;
  if (admin === undefined) return fromGatewayFile(which);
  const missing = failure(2, `${TOKEN_VARIABLE} is not set: with --admin, the token comes from it`);
  const token = async () => fromEnvironment(environment) ?? missing;
  return { kind: 'address', origin: admin, local: isLocal(new URL(admin).hostname), token };
}

/** Readiness needs no token. The metrics listener has precedence over the admin listener. */
export async function findProbe(which: WhichGateway): Promise<{ kind: 'probe'; origin: string } | CallError> {
  if (which.admin !== undefined) return { kind: 'probe', origin: which.admin };
  const read = await settingsOf(which);
  if (read.kind === 'failed') return read;
  const { metrics, admin } = read.settings.listeners;
  const found = [metrics, admin].find((listener) => listener !== undefined && listener.address.port !== 0);
  if (found === undefined)
    return failure(2, `${which.config} has no admin or metrics listener with a fixed port: use --admin URL`);
  return { kind: 'probe', origin: originOf(found.address) };
}

/** Reads the gateway file alone, without policies and without what only a start needs (certificates). */
async function settingsOf(which: WhichGateway): Promise<{ kind: 'read'; settings: Settings } | CallError> {
  const context = contextOf({ ...which, configFile: which.config });
  const { whole, revision, ...read } = await readGateway(context);
  if (whole !== undefined)
    return { kind: 'read', settings: compileSettings(whole, { ...context, revision }) };
  const problems = sortProblems(read.problems);
  const exitCode = exitCodeOf(problems, false) === 2 ? 2 : 1;
  return { kind: 'failed', exitCode, text: renderProblems(problems, { colour: false }), problems };
}

async function fromGatewayFile(which: WhichGateway): Promise<AdminAddress | CallError> {
  const { config, environment, cwd = process.cwd() } = which;
  const read = await settingsOf(which);
  if (read.kind === 'failed') return read;
  const { listeners, dataFolder } = read.settings;
  if (listeners.admin === undefined)
    return failure(2, `${config} has no admin listener: add listeners.admin`);
  const { address, token } = listeners.admin;
  if (address.port === 0) return failure(2, `${config} has port 0 for the admin listener: use --admin URL`);
  return {
    kind: 'address',
    origin: originOf(address),
    local: isLocal(address.host ?? ''),
    token: async () =>
      fromEnvironment(environment) ??
      (token === undefined ? fromDataFolder(dataFolder, cwd) : { kind: 'token', value: token, from: config }),
  };
}

function fromEnvironment(environment: Environment): AdminToken | CallError | undefined {
  const text = environment[TOKEN_VARIABLE];
  if (text === undefined || text === '') return undefined;
  const value = parseAdminToken(text.trim());
  return value === undefined
    ? failure(
        2,
        `${TOKEN_VARIABLE} holds no valid token: 32 characters or more, as in data/${ADMIN_TOKEN_FILE}`,
      )
    : { kind: 'token', value, from: TOKEN_VARIABLE };
}

async function fromDataFolder(dataFolder: string, cwd: string): Promise<AdminToken | CallError> {
  const file = join(dataFolder, ADMIN_TOKEN_FILE);
  const from = relative(cwd, file);
  try {
    const value = parseAdminToken((await readFile(file, 'utf8')).trim());
    return value === undefined ? failure(2, `${from} has no valid token`) : { kind: 'token', value, from };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const why = code === 'ENOENT' ? 'no such file; the gateway makes it at its first start' : code;
    const cure = `Run this command where the gateway runs, or set ${TOKEN_VARIABLE}`;
    return failure(2, `cannot read the admin token in ${from}: ${why}. ${cure}`);
  }
}

function isLocal(host: string): boolean {
  return isLoopback(host.toLowerCase());
}

/** A listener on every interface is reachable by loopback. */
function originOf({ host, port }: Address): string {
  const name = host === undefined || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
