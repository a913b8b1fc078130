// Checks where a delivery may go: https, to a public host name (WH-7); attempt.ts checks the addresses.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export interface DestinationRules {
  /** `host:port` of our own receivers, which may have any address, such as that of the demo. */
  readonly allow: readonly string[];
  /** Our own public addresses, which subscribers must not make us call. */
  readonly deny: readonly string[];
}

export type Destination =
  | { readonly kind: 'allowed'; readonly url: URL; readonly isOurs: boolean }
  | { readonly kind: 'refused'; readonly message: string };

const MAX_CHARACTERS = 2_048;
const HTTPS_PORT = '443';
/** URL parsers treat other spellings in different ways, and so see different hosts. */
const PLAIN = /^https:\/\/[^/\\\p{Cc}][^\\\p{Cc}]*$/iu;
/** An authority with "@", also without a user name, which the URL parser drops. */
const WITH_USER = /^https:\/\/[^/?#]*@/i;
/** Names that no public server has: special-use (IANA), never delegated (ICANN), and customary in private networks. */
const NOT_PUBLIC = new RegExp(
  `(^|\\.)(${[
    ...['localhost', 'local', 'test', 'example', 'invalid', 'onion', 'alt', 'arpa'],
    ...['internal', 'corp', 'home', 'mail'],
    ...['intranet', 'private', 'lan', 'localdomain', 'localdomain6', 'svc', 'metadata\\.goog'],
  ].join('|')})$`,
);
const EMPTY_LABEL = /^\.|\.\.|\.$/;

/** The parsed URL, or what is wrong with it, for its owner. Resolves no name. */
export function checkDestination(written: string, { allow }: DestinationRules): Destination {
  if (written.length > MAX_CHARACTERS) return refuse(`url may have at most ${MAX_CHARACTERS} characters`);
  const url = URL.parse(written);
  if (url === null) return refuse('url must be an absolute address, such as https://example.com/hooks');
  if (url.protocol !== 'https:') return refuse('url must begin with https://');
  if (WITH_USER.test(written)) return refuse('url must not contain a user name or a password');
  if (!PLAIN.test(written))
    return refuse('url must be written as https://host/path, without backslashes and control characters');
  if (url.href.includes('#')) return refuse('url must not have a fragment: it is never sent');
  const port = url.port === '' ? HTTPS_PORT : url.port;
  if (allow.includes(`${url.hostname}:${port}`)) return { kind: 'allowed', url, isOurs: true };
  if (port !== HTTPS_PORT) return refuse('url must use port 443');
  if (isIP(url.hostname.replace(/^\[(.*)\]$/, '$1')) !== 0)
    return refuse('url must have a host name, not an address');
  if (!isPublicName(url.hostname)) return refuse('url must have a public host name');
  return { kind: 'allowed', url, isOurs: false };
}

function isPublicName(host: string): boolean {
  return (
    host.includes('.') && !EMPTY_LABEL.test(host) && domainToASCII(host) === host && !NOT_PUBLIC.test(host)
  );
}

function refuse(message: string): Destination {
  return { kind: 'refused', message };
}
