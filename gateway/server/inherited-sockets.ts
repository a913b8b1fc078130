// Takes over listening sockets that the service manager keeps open across restarts (sd_listen_fds(3)).
import type { Settings } from '../plan/settings.ts';
import type { PublicSockets } from './public-listeners.ts';

const FIRST_DESCRIPTOR = 3;
const LISTENERS = ['https', 'http'] as const;
const HOW = 'write FileDescriptorName=https or FileDescriptorName=http into its .socket unit';

/** Deletes the variables, because child processes must not use them. @throws if a socket has no name of a listener */
export function takeInheritedSockets(environment: NodeJS.ProcessEnv, pid: number): PublicSockets | undefined {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = '' } = environment;
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'LISTEN_PIDFDID'])
    delete environment[name];
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(pid)) return undefined;
  if (!/^[1-9]\d?$/.test(LISTEN_FDS)) throw new Error('LISTEN_FDS is not a number from 1 to 99');
  const names = LISTEN_FDNAMES.split(':');
  const found = new Map<string, number>();
  for (let at = 0; at < Number(LISTEN_FDS); at += 1) {
    const descriptor = FIRST_DESCRIPTOR + at;
    const name = names[at] ?? '';
    if (!LISTENERS.some((each) => each === name))
      throw new Error(`socket ${descriptor} of the service manager has the name "${name}": ${HOW}`);
    if (found.has(name))
      throw new Error(`two sockets of the service manager have the name ${name}: remove one`);
    found.set(name, descriptor);
  }
  return { https: found.get('https'), http: found.get('http'), stayOpen: false };
}

/** @throws if a socket belongs to a listener that the gateway file does not have */
export function socketsFor(
  sockets: PublicSockets | undefined,
  listeners: Settings['listeners'],
): PublicSockets | undefined {
  if (sockets === undefined) return undefined;
  for (const name of LISTENERS)
    if (sockets[name] !== undefined && listeners[name] === undefined)
      throw new Error(
        `the service manager passes a socket for ${name}, and the gateway file has no listeners.${name}: add it, or disable the .socket unit`,
      );
  const stayOpen = LISTENERS.every((name) => listeners[name] === undefined || sockets[name] !== undefined);
  return { ...sockets, stayOpen };
}
