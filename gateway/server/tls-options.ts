// TLS options by RFC 9325, and certificates by SNI (TLS-1 to TLS-3), renewed under open connections (TLS-7).
import { constants, randomBytes, type X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket, type TlsOptions } from 'node:tls';
import type { ConnectionCertificates, TlsTermination } from '../plane/port.ts';
import type { ClientCertificate } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Certificates, KeyPair } from './certificates.ts';
import type { PublicCertificates } from './public-certificates.ts';

// TLS 1.2: only ephemeral key exchange and authenticated encryption. All suites of TLS 1.3 have both.
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
/** TLS-1: a week at most, because a stolen key decrypts all sessions of its time. */
const NEW_TICKET_KEYS_MS = 86_400_000;
const TICKET_KEYS = 48;

const SHOWN = Symbol('shown');
type Shown = Socket & { [SHOWN]?: ConnectionCertificates | undefined };

export type CertificateSource = Pick<PublicCertificates, 'current' | 'onChange'>;

/** `now`: the real clock. */
export function createTlsTermination(certificates: CertificateSource, now: () => EpochMs): TlsTermination {
  // All names share the ticket keys, because Node decrypts a ticket before it knows the name.
  let ticketKeys = randomBytes(TICKET_KEYS);
  const contexts = new Map<KeyPair, SecureContext>();
  const names = createNameRefusal();
  const clients = certificates.current().pairs[0]?.clients;

  /** Created at the first use of a name. A thousand at once would block the event loop. */
  const contextFor = (pair: KeyPair): SecureContext => {
    const context = contexts.get(pair) ?? createSecureContext({ ...keysOf(pair), ticketKeys });
    contexts.set(pair, context);
    return context;
  };
  const defaultContext = ({ default: shown }: Certificates): TlsOptions => {
    return {
      // Without a default certificate the server fails handshakes without SNI.
      ...(shown === undefined ? {} : keysOf(shown)),
      ticketKeys,
      minVersion: 'TLSv1.2',
      ciphers: CIPHERS,
      honorCipherOrder: true,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    };
  };
  return {
    options: {
      ...defaultContext(certificates.current()),
      ...(clients && { requestCert: true, rejectUnauthorized: clients.required }),
      SNICallback(this: unknown, servername, answer) {
        const pair = certificates.current().pairFor(servername);
        // The answer (null, undefined) would use the default certificate.
        if (pair === undefined) names.refuse(this, answer);
        else answer(null, contextFor(pair));
      },
    },
    attach: (server) => {
      const renew = (): void => {
        ticketKeys = randomBytes(TICKET_KEYS);
        contexts.clear();
        server.setSecureContext(defaultContext(certificates.current()));
      };
      certificates.onChange(renew);
      const timer = setInterval(renew, NEW_TICKET_KEYS_MS).unref();
      server.once('close', () => clearInterval(timer));
      server.on('connection', names.track);
      server.on('secureConnection', (socket: TLSSocket) => {
        const client = clients && provenCertificate(socket);
        // OpenSSL does not check the expiry of the client certificate of a resumed session.
        if (clients?.required && (client === undefined || client.ends <= now())) {
          socket.destroy();
          return;
        }
        const { servername } = socket;
        const named = typeof servername === 'string' ? servername : undefined;
        (socket as Shown)[SHOWN] = { own: certificates.current().pairFor(named), client };
      });
    },
    shown: (socket) => (socket as Shown)[SHOWN],
  };
}

function keysOf({ cert, key, clients }: KeyPair): Pick<TlsOptions, 'cert' | 'key' | 'ca'> {
  return { cert, key, ...(clients && { ca: clients.authorities }) };
}

type NameCallback = (error: Error | null) => void;

interface NameRefusal {
  /** Call it for each connection before its handshake. */
  readonly track: (raw: Socket) => void;
  /** `secured`: the TLS socket on which Node calls the SNI callback. */
  readonly refuse: (secured: unknown, answer: NameCallback) => void;
}

/**
 * A fatal `unrecognized_name` alert as a TLS record. It is unencrypted, because SNI is checked before any encryption
 * starts.
 */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

function createNameRefusal(): NameRefusal {
  const open = new Map<string, Socket>();
  return {
    track: (raw) => {
      const key = endOf(raw);
      if (key === undefined) return;
      open.set(key, raw);
      raw.once('close', () => {
        if (open.get(key) === raw) open.delete(key);
      });
    },
    refuse: (secured, answer) => {
      const key = endOf(secured);
      const raw = key === undefined ? undefined : open.get(key);
      const end = (): void => answer(new Error('unrecognized_name'));
      if (raw?.writable) raw.write(ALERT, end);
      else end();
    },
  };
}

function endOf(socket: unknown): string | undefined {
  if (typeof socket !== 'object' || socket === null) return undefined;
  const { remoteAddress, remotePort } = socket as Partial<Socket>;
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}

/** One entry of subjectAltName. An entry with a comma or a quote is a JSON string. */
const NAME = /(?:^|, )([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/g;

/** A resumed session without a certificate is `authorized`, so both are checked. */
function provenCertificate(socket: TLSSocket): ClientCertificate | undefined {
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? undefined : readCertificate(certificate);
}

export function readCertificate(certificate: X509Certificate): ClientCertificate {
  const names = namesIn(certificate.subjectAltName ?? '');
  const { subject } = certificate.toLegacyObject();
  // Several common names are an array.
  const commonName: unknown = subject?.CN;
  return {
    commonName: typeof commonName === 'string' ? commonName : undefined,
    dnsNames: names.filter(([kind]) => kind === 'DNS').map(([, name]) => name),
    uris: names.filter(([kind]) => kind === 'URI').map(([, name]) => name),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    ends: certificate.validToDate.getTime(),
  };
}

function namesIn(text: string): readonly (readonly [kind: string, name: string])[] {
  return [...text.matchAll(NAME)].map(([, kind = '', name = '']) => [
    kind,
    name.startsWith('"') ? String(JSON.parse(name)) : name,
  ]);
}
