// What of a client's certificate counts: one common name, the names beside it however they are quoted, and its digest.
import { createHash, X509Certificate } from 'node:crypto';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../gateway/server/client-certificate.ts';

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
  it('is read once: subject, names, digest and end', async () => {
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

  it('a name that holds what looks like another is one name', async () => {
    const url = 'https://a.example/x, DNS:admin.example';
    expect(readCertificate(await certificateOf([[URI, url]]))).toMatchObject({ uris: [url], dnsNames: [] });
  });

  it('of several common names none counts, and a line end in one makes no other', async () => {
    expect(
      readCertificate(await certificateOf([[DNS, 'a.example']], ['one', 'two'])).commonName,
    ).toBeUndefined();
    const odd = readCertificate(await certificateOf([[DNS, 'a.example']], ['x\nCN=admin'])).commonName;
    expect(odd).not.toBe('admin');
  });
});
