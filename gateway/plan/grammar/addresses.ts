// Parses hosts, listener addresses and address ranges.
import { isIP } from 'node:net';
import { isLoopback } from '../../policy/notation.ts';

export interface Address {
  /** Undefined: all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
}

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`);

/** A host name, an IPv4 address, or an IPv6 address in brackets, in lower case without port. Otherwise undefined. */
export function parseHostName(text: string): string | undefined {
  const bracketed = /^\[(.+)\]$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? new URL(`http://${text}`).hostname : undefined;
  if (!HOST.test(text)) return undefined;
  // A host whose last label is a number is an IPv4 address: `999.1` and `1.2.3` are neither name nor address.
  return /(^|\.)[0-9]+$/.test(text) && isIP(text) !== 4 ? undefined : text;
}

/** `:8443`, `127.0.0.1:9901`, `[::1]:80`. Port 0 lets the system choose. */
export function parseAddress(text: string): Address | undefined {
  const [, host, digits] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port > 65_535) return undefined;
  if (host === '') return { host: undefined, port };
  const name = parseHostName(host);
  return name === undefined ? undefined : { host: name.replace(/^\[|\]$/g, ''), port };
}

export function parseRange(text: string): string | undefined {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return undefined;
  if (bits === undefined) return text;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128) ? text : undefined;
}

/** The port of an origin, or the default of its scheme. */
export function portOf(origin: string): number {
  const url = new URL(origin);
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/** Whether a connection to `origin` reaches the listener. Any address of this machine reaches a loopback listener. */
export function reaches(origin: string, listener: Address): boolean {
  if (listener.port === 0 || portOf(origin) !== listener.port) return false;
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '');
  const here = isLoopback(host) || host === '0.0.0.0' || host === '::';
  const everywhere = listener.host === undefined || listener.host === '0.0.0.0' || listener.host === '::';
  if (everywhere) return here;
  return here ? isLoopback(listener.host) : host === listener.host;
}

/** The public origin with another host of the gateway. Scheme and port are the same on all hosts. */
export function originOn(publicOrigin: string, host: string): string {
  return publicOrigin.replace(
    /^(https?:\/\/)(?:\[[^\]]*\]|[^:]*)/,
    (_whole, scheme: string) => scheme + host,
  );
}

/** Equivalent names of this machine. */
export const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Equal for hosts with the same routes, such as the loopback names. */
export function hostKey(host: string): string {
  return LOOPBACK.includes(host) ? 'localhost' : host;
}
