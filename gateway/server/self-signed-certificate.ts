// Creates a P-256 key and a self-signed X.509 certificate (RFC 5280) for a TLS server.
import { generateKeyPair, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type { EpochMs } from '../policy/contract.ts';

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** Context-specific: `version` and `extensions` of the certificate, names in subjectAltName. */
  version: 0xa0,
  extensions: 0xa3,
  dnsName: 0x82,
  ipAddress: 0x87,
} as const;
const OID = {
  commonName: [0x55, 0x04, 0x03],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  basicConstraints: [0x55, 0x1d, 0x13],
  keyUsage: [0x55, 0x1d, 0x0f],
  extKeyUsage: [0x55, 0x1d, 0x25],
  subjectAltName: [0x55, 0x1d, 0x11],
  serverAuth: [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01],
} as const;
const VERSION_3 = [2];
const TRUE = [0xff];
/** Seven unused bits, then the bit of digitalSignature. */
const DIGITAL_SIGNATURE = [7, 0x80];
const WHOLE_OCTETS = [0];

type Octets = Uint8Array | readonly number[];

function der(tag: number, ...parts: readonly Octets[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  return Buffer.concat([Uint8Array.from([tag, ...lengthOctets(content.length)]), content]);
}

function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest >>= 8) octets.unshift(rest & 0xff);
  return [0x80 | octets.length, ...octets];
}

const sequence = (...parts: readonly Octets[]): Buffer => der(TAG.sequence, ...parts);
const objectIdentifier = (octets: Octets): Buffer => der(TAG.objectIdentifier, octets);

function extension(name: Octets, isCritical: boolean, value: Octets): Buffer {
  const critical = isCritical ? [der(TAG.boolean, TRUE)] : [];
  return sequence(objectIdentifier(name), ...critical, der(TAG.octetString, value));
}

/** RFC 5280 §4.1.2.5: two-digit years until 2049. */
function time(at: EpochMs): Buffer {
  const digits = new Date(at).toISOString().replace(/\.\d+|[-:T]/g, '');
  return digits < '2050'
    ? der(TAG.utcTime, Buffer.from(digits.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(digits));
}

function nameEntry(name: string): Buffer {
  const family = isIP(name);
  if (family === 0) return der(TAG.dnsName, Buffer.from(name));
  return der(TAG.ipAddress, family === 4 ? name.split('.').map(Number) : octetsOfIpv6(name));
}

function octetsOfIpv6(address: string): readonly number[] {
  // URL normalises zone, dotted part and case.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = plain.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return groups.flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 0xff];
  });
}

export interface MadePair {
  readonly cert: string;
  readonly key: string;
}

/** Valid for the hosts and addresses in `names`. `subject`: common name. */
export async function makeSelfSigned(
  subject: string,
  names: readonly string[],
  { from, until }: { readonly from: EpochMs; readonly until: EpochMs },
): Promise<MadePair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const serial = randomBytes(16);
  // Positive, and in the shortest form.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const commonName = sequence(objectIdentifier(OID.commonName), der(TAG.utf8String, Buffer.from(subject)));
  const name = sequence(der(TAG.set, commonName));
  const extensions = sequence(
    extension(OID.basicConstraints, true, sequence()),
    extension(OID.keyUsage, true, der(TAG.bitString, DIGITAL_SIGNATURE)),
    extension(OID.extKeyUsage, false, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.subjectAltName, false, sequence(...names.map(nameEntry))),
  );
  const toBeSigned = sequence(
    der(TAG.version, der(TAG.integer, VERSION_3)),
    der(TAG.integer, serial),
    algorithm,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, extensions),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const whole = sequence(toBeSigned, algorithm, der(TAG.bitString, WHOLE_OCTETS, signature));
  const lines = whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}
