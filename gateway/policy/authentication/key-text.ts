// What an API key looks like: `sdl_<id>_<secret><checksum>`. Made once, shown once; a store has the digest of the secret.
// Pure but for the random numbers; the checksum tells a mistyped key from an unknown one without asking any store.
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** By the prefix, scanners of source code find keys that were committed. */
const PREFIX = 'sdl_';
/** Crockford's, lower case: nothing in it is taken for something else when it is read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_CHARACTERS = 12;
/** 160 bits: against guessing, one round of SHA-256 is then as good as any number of them. */
const SECRET_CHARACTERS = 32;
/** 32 bits. */
const CHECK_CHARACTERS = 7;

const FORM = new RegExp(
  `^${PREFIX}([${ALPHABET}]{${ID_CHARACTERS}})_([${ALPHABET}]{${SECRET_CHARACTERS}})([${ALPHABET}]{${CHECK_CHARACTERS}})$`,
);
const ID = new RegExp(`^[${ALPHABET}]{${ID_CHARACTERS}}$`);

export interface KeyParts {
  /** Public: what a record is found by, and what operators call the key. */
  readonly id: string;
  /** Hex. */
  readonly digest: string;
}

/** Undefined for what is no key, or is mistyped. */
export function readKey(text: string): KeyParts | undefined {
  const [, id, secret, check] = FORM.exec(text) ?? [];
  if (id === undefined || secret === undefined || check !== checksum(id, secret)) return undefined;
  return { id, digest: hash('sha256', secret) };
}

export function isKeyId(text: string): boolean {
  return ID.test(text);
}

export function newKeyId(): string {
  return randomText(ID_CHARACTERS);
}

/** A new secret for the record `id`: the key as its holder gets it, and the digest that is kept. */
export function newSecret(id: string): { readonly key: string; readonly digest: string } {
  const secret = randomText(SECRET_CHARACTERS);
  return { key: `${PREFIX}${id}_${secret}${checksum(id, secret)}`, digest: hash('sha256', secret) };
}

function checksum(id: string, secret: string): string {
  let rest = crc32(`${id}_${secret}`);
  let text = '';
  for (let index = 0; index < CHECK_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Five bits of each byte: every character is as likely as any other. */
function randomText(characters: number): string {
  return [...randomBytes(characters)].map((byte) => ALPHABET.charAt(byte % 32)).join('');
}
