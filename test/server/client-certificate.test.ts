// The parts of a client certificate that the gateway reads, and the client that it identifies.
import { createHash, X509Certificate } from 'node:crypto';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { compileBounds } from '../../gateway/plan/compile/bounds.ts';
import { createClientConnection } from '../../gateway/plane/client-connection.ts';
import { readRequest } from '../../gateway/plane/general/request/request-view.ts';
import type { ClientCertificate } from '../../gateway/policy/authentication/access.ts';
import { createClientAddress } from '../../gateway/server/client-address.ts';
import { readCertificate } from '../../gateway/server/tls-options.ts';
import { createBytesParser } from '../support/parsed-request.ts';

const DNS = 2;
const URI = 6;

async function certificateOf(
  names: readonly (readonly [type: typeof DNS | typeof URI, value: string])[],
  subject: readonly string[] = ['acme'],
): Promise<X509Certificate> {
  const { cert } = await generate(
    subject.map((value) => ({ name: 'commonName', value })),
    {
      keyType: 'ec',
      curve: 'P-256',
      notAfterDate: new Date('2030-01-01T00:00:00Z'),
      extensions: [
        {
          name: 'subjectAltName',
          altNames: names.map(([type, value]) => ({ type, value })),
        },
      ],
    },
  );
  return new X509Certificate(cert);
}

describe('a client certificate', () => {
  it('has a common name, alternative names, a digest and an expiry', async () => {
    const certificate = await certificateOf([
      [DNS, 'a.example'],
      [URI, 'spiffe://example.com/billing'],
      [DNS, 'b.example'],
    ]);
    expect(readCertificate(certificate)).toEqual({
      commonName: 'acme',
      dnsNames: ['a.example', 'b.example'],
      uris: ['spiffe://example.com/billing'],
      fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
      ends: Date.UTC(2030, 0, 1),
    });
  });

  it('keeps a name as one name even if it contains the text of another name', async () => {
    const url = 'https://a.example/x, DNS:admin.example';
    expect(readCertificate(await certificateOf([[URI, url]]))).toMatchObject({ uris: [url], dnsNames: [] });
  });

  it('has no common name if it has several, and a line break in a name adds none', async () => {
    expect(
      readCertificate(await certificateOf([[DNS, 'a.example']], ['one', 'two'])).commonName,
    ).toBeUndefined();
    const odd = readCertificate(await certificateOf([[DNS, 'a.example']], ['x\nCN=admin'])).commonName;
    expect(odd).not.toBe('admin');
  });
});

describe('the owner of a certificate', () => {
  const addressOf = createClientAddress(['10.0.0.0/8']);
  const client: ClientCertificate = {
    ...{ commonName: 'acme', dnsNames: [], uris: [], fingerprint: '00', ends: 1 },
  };

  it.each([
    ['is the client that sent it, even with X-Forwarded-For', '192.0.2.1', client, client],
    ['is not the caller behind a trusted proxy', '10.0.0.1', client, undefined],
    ['is never read from a header', '192.0.2.1', undefined, undefined],
    ['is never read from a header of a trusted proxy', '10.0.0.1', undefined, undefined],
  ])('XFF-1: %s', async (_what, peer, shown, counts) => {
    const [raw] = await createBytesParser().parse(
      'GET / HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-For: 10.0.0.2\r\nClient-Cert: :AA==:\r\nX-Client-Cert: acme\r\n\r\n',
    );
    if (raw === undefined) throw new Error('no request');
    const read = readRequest(raw, {
      ...{ scheme: 'https', isHttp2: false, requestId: 'r', trace: undefined, bounds: compileBounds({}) },
      headers: new RecordFields(raw.headers),
      address: addressOf(peer, '10.0.0.2'),
      connection: createClientConnection(addressOf(peer, undefined), { own: undefined, client: shown }),
    });
    expect(read.kind === 'view' && read.view.clientCertificate).toBe(counts);
  });
});
