// Decodes a chunked body (RFC 9112 §7.1), as strictly as Node's parser.

export class ChunkedBodyError extends Error {
  readonly code = 'HPE_INVALID_CHUNK';
  readonly kind: 'malformed' | 'extensions_too_large' | 'trailers_too_large';

  constructor(kind: ChunkedBodyError['kind']) {
    super(`the chunked body is ${kind}`);
    this.kind = kind;
  }
}

const TOKEN = 1;
const QUOTED = 2;
const VALUE = 4;
const KIND = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  KIND[character.charCodeAt(0)] = TOKEN;
for (let octet = 0; octet < 256; octet += 1) {
  const isText = octet === 0x09 || (octet >= 0x20 && octet !== 0x7f);
  if (!isText) continue;
  KIND[octet] = (KIND[octet] ?? 0) | VALUE;
  if (octet !== 0x22 && octet !== 0x5c) KIND[octet] = (KIND[octet] ?? 0) | QUOTED;
}

/** Digit value by octet. 255: not a digit. */
const HEX = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 16; digit += 1) {
  const text = digit.toString(16);
  HEX[text.charCodeAt(0)] = digit;
  HEX[text.toUpperCase().charCodeAt(0)] = digit;
}

const [CR, LF, SEMICOLON, EQUALS, QUOTE, BACKSLASH, COLON] = [0x0d, 0x0a, 0x3b, 0x3d, 0x22, 0x5c, 0x3a];
/** In trailers, these fields would be a second framing (SMG-1). */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
const LONGEST = 'transfer-encoding'.length;

const AT = {
  firstDigit: 0,
  size: 1,
  extension: 2,
  extensionName: 3,
  extensionValue: 4,
  quoted: 5,
  escaped: 6,
  behindQuote: 7,
  sizeEnd: 8,
  content: 9,
  contentCr: 10,
  contentLf: 11,
  trailer: 12,
  trailerName: 13,
  trailerValue: 14,
  trailerLf: 15,
  end: 16,
} as const;

/** A larger chunk size cannot be represented exactly. */
const MAX = Number.MAX_SAFE_INTEGER;

export class ChunkedBody {
  framing = 0;
  content = 0;
  readonly #most: { readonly extensions: number; readonly trailers: number };
  #at: number = AT.firstDigit;
  #left = 0;
  #extensions = 0;
  #trailers = 0;
  /** Start of the current trailer name, long enough to compare with `FRAMING`. */
  #name = '';

  /** `most`: octets. Extensions: per chunk. */
  constructor(most: { readonly extensions: number; readonly trailers: number }) {
    this.#most = most;
  }

  /**
   * Decodes bytes[from, to) and calls `onContent` for each run of content. Returns the offset after the body, or -1 while
   * it continues.
   * @throws ChunkedBodyError
   */
  read(bytes: Uint8Array, from: number, to: number, onContent: (start: number, end: number) => void): number {
    let at = from;
    while (at < to) {
      if (this.#at === AT.content) {
        const end = Math.min(to, at + this.#left);
        onContent(at, end);
        this.content += end - at;
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#at = AT.contentCr;
        continue;
      }
      const octet = bytes[at] ?? 0;
      at += 1;
      this.framing += 1;
      if (this.#step(octet)) return at;
    }
    return -1;
  }

  /** True after the last octet of the body. */
  #step(octet: number): boolean {
    switch (this.#at) {
      case AT.firstDigit:
      case AT.size:
        this.#size(octet);
        return false;
      case AT.sizeEnd:
        expect(octet, LF);
        this.#extensions = 0;
        this.#at = this.#left === 0 ? AT.trailer : AT.content;
        return false;
      case AT.contentCr:
        expect(octet, CR);
        this.#at = AT.contentLf;
        return false;
      case AT.contentLf:
        expect(octet, LF);
        this.#at = AT.firstDigit;
        return false;
      case AT.end:
        expect(octet, LF);
        return true;
      case AT.trailer:
      case AT.trailerName:
      case AT.trailerValue:
      case AT.trailerLf:
        this.#trailer(octet);
        return false;
      default:
        this.#extension(octet);
        return false;
    }
  }

  #size(octet: number): void {
    const digit = HEX[octet] ?? 255;
    if (digit !== 255) {
      this.#left = this.#left * 16 + digit;
      if (this.#left > MAX) throw new ChunkedBodyError('malformed');
      this.#at = AT.size;
    } else if (this.#at === AT.firstDigit) throw new ChunkedBodyError('malformed');
    else this.#behindPart(octet);
  }

  /** After a size or an extension: the end of the line, or another extension. */
  #behindPart(octet: number): void {
    if (octet === CR) this.#at = AT.sizeEnd;
    else if (octet === SEMICOLON) this.#at = AT.extension;
    else throw new ChunkedBodyError('malformed');
  }

  #extension(octet: number): void {
    this.#extensions += 1;
    if (this.#extensions > this.#most.extensions) throw new ChunkedBodyError('extensions_too_large');
    const kind = KIND[octet] ?? 0;
    switch (this.#at) {
      case AT.extension:
        if (octet === CR) throw new ChunkedBodyError('malformed');
        this.#at = AT.extensionName;
        this.#extensionName(octet, kind);
        return;
      case AT.extensionName:
        this.#extensionName(octet, kind);
        return;
      case AT.extensionValue:
        if (octet === QUOTE) this.#at = AT.quoted;
        else if ((kind & TOKEN) === 0) this.#behindPart(octet);
        return;
      case AT.quoted:
        if (octet === QUOTE) this.#at = AT.behindQuote;
        else if (octet === BACKSLASH) this.#at = AT.escaped;
        else if ((kind & QUOTED) === 0) throw new ChunkedBodyError('malformed');
        return;
      case AT.escaped:
        if ((kind & VALUE) === 0) throw new ChunkedBodyError('malformed');
        this.#at = AT.quoted;
        return;
      default:
        this.#behindPart(octet);
    }
  }

  #extensionName(octet: number, kind: number): void {
    if (octet === EQUALS) this.#at = AT.extensionValue;
    else if ((kind & TOKEN) === 0) this.#behindPart(octet);
  }

  #trailer(octet: number): void {
    this.#trailers += 1;
    if (this.#trailers > this.#most.trailers) throw new ChunkedBodyError('trailers_too_large');
    const kind = KIND[octet] ?? 0;
    if (this.#at === AT.trailerLf) {
      expect(octet, LF);
      this.#at = AT.trailer;
    } else if (this.#at === AT.trailerValue) {
      if (octet === CR) this.#at = AT.trailerLf;
      else if ((kind & VALUE) === 0) throw new ChunkedBodyError('malformed');
    } else if (this.#at === AT.trailer && octet === CR) this.#at = AT.end;
    else if (octet === COLON && this.#at === AT.trailerName) {
      if (FRAMING.has(this.#name)) throw new ChunkedBodyError('malformed');
      this.#at = AT.trailerValue;
    } else if ((kind & TOKEN) === 0) throw new ChunkedBodyError('malformed');
    else {
      if (this.#at === AT.trailer) this.#name = '';
      if (this.#name.length <= LONGEST) this.#name += String.fromCharCode(octet).toLowerCase();
      this.#at = AT.trailerName;
    }
  }
}

function expect(octet: number, expected: number): void {
  if (octet !== expected) throw new ChunkedBodyError('malformed');
}
