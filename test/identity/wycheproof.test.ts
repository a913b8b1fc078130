// Compares signature verification with the Wycheproof vectors (wycheproof/README.md) and with jose on WebCrypto.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactVerify, createLocalJWKSet, importJWK, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { createKeySet } from '../../gateway/identity/key-set.ts';
import { verifiersOf } from '../../gateway/identity/signature.ts';
import { readToken } from '../../gateway/identity/token-shape.ts';

interface Group {
  readonly file: string;
  readonly alg: string;
  readonly key: JWK;
  readonly keys: readonly JWK[];
}
type Row = readonly [tcId: number, comment: string, result: 'valid' | 'invalid' | 'acceptable', ...string[]];
interface Vector {
  readonly group: Group;
  readonly id: string;
  readonly valid: boolean | undefined;
  readonly parts: readonly string[];
}

/** `valid` undefined: Wycheproof lets a verifier accept or refuse it. */
function readVectors(file: string): Vector[] {
  const text = readFileSync(join(import.meta.dirname, 'wycheproof', file), 'utf8');
  const vectors: Vector[] = [];
  let group: Group | undefined;
  for (const line of text.trimEnd().split('\n')) {
    const read: Group | Row = JSON.parse(line);
    if ('file' in read) group = read;
    else if (group !== undefined) {
      const [tcId, comment, result, ...parts] = read;
      const id = `${group.file} ${tcId}: ${comment}`;
      vectors.push({ group, id, valid: result === 'acceptable' ? undefined : result === 'valid', parts });
    }
  }
  return vectors;
}

/** The parameters that jose gives to WebCrypto. */
function parametersOf(alg: string) {
  const bits = alg.slice(2);
  switch (alg.slice(0, 2)) {
    case 'RS':
      return { name: 'RSASSA-PKCS1-v1_5' };
    case 'PS':
      return { name: 'RSA-PSS', saltLength: Number(bits) / 8 };
    case 'ES':
      return { name: 'ECDSA', hash: `SHA-${bits}` };
    default:
      return { name: 'Ed25519' };
  }
}

async function verifiesByWebCrypto(
  alg: string,
  key: JWK,
  input: Buffer,
  signature: Buffer,
): Promise<boolean> {
  const imported = await importJWK(key, alg);
  if (imported instanceof Uint8Array) throw new Error('no public key');
  return crypto.subtle.verify(parametersOf(alg), imported, Buffer.from(signature), Buffer.from(input));
}

describe.each(['rsa-pkcs1.jsonl', 'rsa-pss.jsonl', 'ecdsa.jsonl', 'ed25519.jsonl'])('JWT-1: %s', (file) => {
  const vectors = readVectors(file);

  it('each signature gets the verdict of the vector and of jose', async () => {
    expect(vectors.length).toBeGreaterThan(50);
    for (const { group, id, valid, parts } of vectors) {
      const [input = Buffer.of(), signature = Buffer.of()] = parts.map((part) =>
        Buffer.from(part, 'base64url'),
      );
      const ours = await verifiersOf(group.key)?.get(group.alg)?.(input, signature);
      const byJose = await verifiesByWebCrypto(group.alg, group.key, input, signature);
      expect({ id, ours, byJose }).toEqual({ id, ours: valid ?? byJose, byJose: valid ?? byJose });
    }
  });

  it('P-384, P-521 and RSA above 4096 bits are verified in the thread pool', async () => {
    for (const { group } of vectors) {
      const { crv, n = '' } = group.key;
      const slow = crv === 'P-384' || crv === 'P-521' || Buffer.from(n, 'base64url').length > 512;
      const verdict = verifiersOf(group.key)?.get(group.alg)?.(Buffer.of(), Buffer.of());
      expect(verdict instanceof Promise).toBe(slow);
      expect(await verdict).toBe(false);
    }
  });

  it('no signature is valid with another algorithm of the same key', async () => {
    for (const { group, id, valid, parts } of vectors) {
      if (valid !== true) continue;
      const [input = Buffer.of(), signature = Buffer.of()] = parts.map((part) =>
        Buffer.from(part, 'base64url'),
      );
      for (const [alg, verify] of verifiersOf(group.key) ?? []) {
        if (alg === group.alg || group.alg === 'EdDSA') continue;
        expect({ id, alg, good: await verify(input, signature) }).toEqual({ id, alg, good: false });
      }
    }
  });
});

/** Vectors where the gateway differs on purpose, with the verdict of the gateway. */
const EXPECTED_DIFFERENCES: ReadonlyMap<string, boolean> = new Map([
  // An empty payload is not a JWT: claims must be an object.
  ...[259, 264, 268, 272, 320, 325].map(
    (tcId) => [`json_web_signature_test ${tcId}: emptyPayload`, false] as const,
  ),
  // The key is for another algorithm than the header names. jose refuses these tokens too.
  ...[346, 350].map((tcId) => [`json_web_signature_test ${tcId}: Figure20`, false] as const),
  ...[347, 351].map((tcId) => [`json_web_signature_test ${tcId}: Figure27`, false] as const),
  // Only the issuer can know how a key was generated.
  ['json_web_key_test 7: rejectsKeyWithRocaVulnerability', true],
]);

describe('JWT-1: jose.jsonl', () => {
  it('each token gets the verdict of jose, and of the vector unless it is a listed exception', async () => {
    for (const { group, id, valid, parts } of readVectors('jose.jsonl')) {
      const [jws = ''] = parts;
      const ours = await isSigned(group.keys, jws);
      expect({ id, ours }).toEqual({ id, ours: EXPECTED_DIFFERENCES.get(id) ?? valid });
      // jose accepts an empty payload.
      const byJose = !jws.includes('..') && (await isSignedByJose(group.keys, jws));
      expect({ id, byJose }).toEqual({ id, byJose: ours });
    }
  });
});

async function isSigned(keys: readonly JWK[], jws: string): Promise<boolean> {
  const fetch = async () => Response.json({ keys });
  const keySet = createKeySet('https://auth.example.com/keys', { now: () => 0, fetch });
  try {
    await keySet.warm();
    const token = readToken(jws);
    if (token === undefined) return false;
    const verifiers = (await keySet.keysFor(token.kid))?.verifiersFor(token.alg, token.kid) ?? [];
    const verdicts = await Promise.all(verifiers.map((verify) => verify(token.input, token.signature)));
    return verdicts.includes(true);
  } finally {
    keySet.close();
  }
}

async function isSignedByJose(keys: readonly JWK[], jws: string): Promise<boolean> {
  try {
    await compactVerify(jws, createLocalJWKSet({ keys: [...keys] }));
    return true;
  } catch {
    return false;
  }
}
