// Why a listener could not be opened, in words for the operator: which one, at what address, what is wrong with it.
import type { Address, Settings } from '../plan/settings.ts';

type ListenerName = keyof Settings['listeners'];

/** The second is what it fails in where a socket is bound for workers. */
const SYSCALLS: readonly unknown[] = ['listen', 'bind'];

/** A listener of the gateway file cannot have its address; `cause` is the system's error. */
export class ListenFailure extends Error {
  readonly listener: ListenerName;
  readonly code: string;
  constructor(listener: ListenerName, { host, port }: Address, code: string, cause: unknown) {
    const address = `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`;
    super(`the ${listener} listener cannot have ${address}: ${reasonOf(code)}`, { cause });
    this.listener = listener;
    this.code = code;
  }
}

/** The failure of that one of `listeners` which `error` is about; `error` itself when it is about none of them. */
export function listenFailure(error: unknown, listeners: Settings['listeners']): unknown {
  if (!(error instanceof Error) || !SYSCALLS.includes(Reflect.get(error, 'syscall'))) return error;
  const port: unknown = Reflect.get(error, 'port');
  const at: unknown = Reflect.get(error, 'address');
  const candidates = (['https', 'http', 'admin', 'metrics'] as const).flatMap((name) => {
    const address = listeners[name]?.address;
    return address?.port === port && address !== undefined ? [{ name, address }] : [];
  });
  // Two listeners may share a port at different addresses of this machine.
  const found = candidates.find(({ address }) => address.host === at) ?? candidates[0];
  return found === undefined
    ? error
    : new ListenFailure(found.name, found.address, String(Reflect.get(error, 'code')), error);
}

function reasonOf(code: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'it is in use';
    case 'EACCES':
      return 'this user may not listen there';
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address';
    default:
      return `the system refuses (${code})`;
  }
}
