// The command line of run.ts. By default it tests this gateway on both listeners.
import { parseArgs } from 'node:util';
import type { Listener } from './run-cases.ts';

export interface Options {
  /** Undefined: this gateway, started for the run. */
  readonly target: Listener | undefined;
  /** The address of the suite's upstream. Port 0: any. */
  readonly upstream: { readonly host: string; readonly port: number };
  /** Ids, prefixes of ids, or rules. Empty: all cases. */
  readonly only: readonly string[];
  readonly json: string | undefined;
  readonly peers: boolean;
  readonly atOnce: number;
}

export const USAGE = `npm run test:wire -- [options]
  (none)                  try this gateway on a plain and a TLS listener
  --target HOST:PORT      try another proxy; it must forward /wire/… of api.example.com to --upstream
  --upstream HOST:PORT    where the suite's own upstream listens (default 127.0.0.1:9100 with --target)
  --tls                   the target speaks TLS
  --host NAME             the host the target answers for (default api.example.com)
  --prefix PATH           the folder it forwards (default /wire)
  --only ID,RULE,…        only these cases: ids, beginnings of ids, or rules such as SMG-1
  --json FILE             write every verdict
  --at-once N             cases at a time (default 24)
  --peers                 try nginx and haproxy as well, and print the table`;

/** @throws Error with the usage for invalid arguments */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      target: { type: 'string' },
      upstream: { type: 'string' },
      tls: { type: 'boolean', default: false },
      host: { type: 'string', default: 'api.example.com' },
      prefix: { type: 'string', default: '/wire' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      'at-once': { type: 'string', default: '24' },
      peers: { type: 'boolean', default: false },
    },
  });
  const { target, tls, host, prefix } = values;
  const atOnce = Number(values['at-once']);
  if (!Number.isInteger(atOnce) || atOnce < 1) throw new Error('--at-once is a number of cases, 1 or more');
  if (target !== undefined && values.peers)
    throw new Error('--peers starts its own targets; leave --target out');
  return {
    target:
      target === undefined
        ? undefined
        : { address: { ...addressOf(target, '--target'), tls, serverName: host }, host, prefix },
    upstream: addressOf(
      values.upstream ?? (target === undefined ? '127.0.0.1:0' : '127.0.0.1:9100'),
      '--upstream',
    ),
    only: values.only.split(',').filter((each) => each !== ''),
    json: values.json,
    peers: values.peers,
    atOnce,
  };
}

function addressOf(text: string, option: string): { host: string; port: number } {
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined) throw new Error(`${option} is written HOST:PORT, not ${text}`);
  return { host, port: Number(port) };
}
