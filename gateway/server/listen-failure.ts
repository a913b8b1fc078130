// The error of a listener that cannot be opened: which one, at what address, and why.
import type { Address, Settings } from '../plan/settings.ts';

type ListenerName = keyof Settings['listeners'];

/** `bind` fails for sockets of workers. */
const SYSCALLS: readonly unknown[] = ['listen', 'bind'];

/** `cause` is the system's error. */
export class ListenFailure extends Error {
  readonly listener: ListenerName;
  readonly code: string;
  constructor(listener: ListenerName, { host, port }: Address, code: string, cause: unknown) {
    const address = `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`;
    super(`the ${listener} listener cannot listen on ${address}: ${reasonOf(code)}`, { cause });
    this.listener = listener;
    this.code = code;
  }
}

/** Converts an error about one of `listeners`. Returns any other error unchanged. */
export function listenFailure(error: unknown, listeners: Settings['listeners']): unknown {
  if (!(error instanceof Error) || !SYSCALLS.includes(Reflect.get(error, 'syscall'))) return error;
  const port: unknown = Reflect.get(error, 'port');
  const at: unknown = Reflect.get(error, 'address');
  const candidates = (['https', 'http', 'admin', 'metrics'] as const).flatMap((name) => {
    const address = listeners[name]?.address;
    return address?.port === port && address !== undefined ? [{ name, address }] : [];
  });
  // Two listeners may use one port at different addresses.
  const found = candidates.find(({ address }) => address.host === at) ?? candidates[0];
  return found === undefined
    ? error
    : new ListenFailure(found.name, found.address, String(Reflect.get(error, 'code')), error);
}

function reasonOf(code: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'the address is in use';
    case 'EACCES':
      return 'permission denied';
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address';
    default:
      return `the operating system refuses it (${code})`;
  }
}
