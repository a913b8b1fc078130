// The grammar of `listeners` in `config/gateway.yaml`: addresses, TLS, plain HTTP, admin, metrics.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { notation, parseWholeSeconds } from '../../policy/notation.ts';
import { PLANES } from '../bounds.ts';
import { parseAddress, parseHostName } from './addresses.ts';

export const text = (description: string, examples: readonly string[] = []) =>
  z
    .string()
    .min(1)
    .meta({ description, examples: [...examples] });

const address = (example: string) =>
  notation(parseAddress, 'not an address such as 127.0.0.1:8443 or :8443', {
    description: 'Address and port to listen on. Without an address: every interface.',
    examples: [example],
  });

const certificateName = notation(
  (name) => (parseHostName(name.replace(/^\*\./, '')) === undefined ? undefined : name),
  'not a host name in lower case; it may begin with *.',
  { description: 'A host name; a leading *. stands for one label.', examples: ['api.example.com'] },
);

const certificate = z.strictObject({
  names: z.array(certificateName).min(1).meta({ description: 'Host names this pair is for.' }),
  cert: text('PEM file of the chain, relative to this file.', ['certs/api.crt']),
  key: text('PEM file of the private key, relative to this file.', ['certs/api.key']),
});

/** As `default` of the certificates: handshakes without SNI fail. */
export const NO_DEFAULT = 'none';

const clientCertificates = z.strictObject({
  ca: text('PEM file of the authorities that issued them, relative to this file.', ['certs/clients.pem']),
  mode: z.enum(['optional', 'required']).meta({
    description:
      'required refuses connections without a certificate; optional accepts other credentials, or none.',
  }),
});

const tls = z.strictObject({
  certificates: z
    .array(certificate)
    .min(1)
    .meta({ description: 'Certificates by host name: an exact name comes before a wildcard.' }),
  default: certificateName
    .meta({
      description:
        'A name of the certificate for clients without SNI; none refuses them. Default: the first one.',
      examples: ['api.example.com', NO_DEFAULT],
    })
    .optional(),
  client_certificates: clientCertificates
    .meta({ description: 'Requests client certificates. Without it, none are requested.' })
    .optional(),
});

/** Zero tells browsers to forget the policy (RFC 6797 section 6.1.1). */
const hsts = notation(
  (text) => (text === '0s' ? 0 : parseWholeSeconds(text)),
  'not a duration of at least 1s, such as 365d, nor 0s',
  {
    description:
      'Max-age of Strict-Transport-Security, 0s to withdraw it. Without it, the header is not sent.',
    examples: ['365d', '0s'],
  },
);

const plane = z.enum(PLANES).meta({ description: 'Like bounds.plane, for this listener only.' });

const https = z.strictObject({
  address: address(':8443'),
  plane: plane.optional(),
  hsts: hsts.optional(),
  tls: tls
    .meta({ description: 'Certificates; without them a self-signed pair is made in the data folder.' })
    .optional(),
});

const http = z.strictObject({
  address: address(':8080'),
  plane: plane.optional(),
  mode: z
    .enum(['reject', 'redirect', 'serve'])
    .meta({
      description:
        'reject answers 400; redirect sends requests without credentials to `public`; serve only on loopback or behind trusted proxies. Default reject.',
    })
    .optional(),
});

const admin = z.strictObject({
  address: address('127.0.0.1:9901'),
  token: notation(parseAdminToken, 'not a token of 32 to 512 letters, digits and . _ ~ + / -', {
    description:
      'Token that writes must send as "Authorization: Bearer <token>". Without it, the gateway makes a token in the data folder.',
    examples: [`\${file:/run/secrets/admin-token}`],
  }).optional(),
});

const metrics = z
  .strictObject({ address: address(':9902') })
  .meta({ description: 'Metrics and health only, without a token: for probes and scrapers.' });

export const listenersSection = z
  .strictObject({
    https: https.meta({ description: 'HTTPS for clients.' }).optional(),
    http: http
      .meta({ description: 'Plain HTTP for clients. Requests get 400 unless `mode` allows them.' })
      .optional(),
    admin: admin.meta({ description: `${GLOSSARY['admin listener']} Keep it on loopback.` }).optional(),
    metrics: metrics.optional(),
  })
  .meta({ description: 'Addresses to listen on.' });

/** In the data folder, with mode 0600. */
export const ADMIN_TOKEN_FILE = 'admin-token';

const TOKEN = /^[A-Za-z0-9._~+/-]{32,512}={0,2}$/;

/** The token68 of a Bearer credential (RFC 6750 §2.1), at least 32 characters. Otherwise undefined. */
export function parseAdminToken(text: string): string | undefined {
  return TOKEN.test(text) ? text : undefined;
}
