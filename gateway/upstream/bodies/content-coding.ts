// Undoes a content coding, with a bound on what comes out of it.
// For upstreams that send one although the gateway asked for none; used by held-body.ts.
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Coding } from '../../policy/body-notice/editable.ts';

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number; readonly info: true }) => unknown;
/** What `info` asks for and Node's types do not know. */
interface Decoded {
  readonly buffer: Buffer;
  /** `bytesWritten`: how many bytes were taken in. */
  readonly engine: { readonly bytesWritten: number };
}

const DECODERS: Readonly<Record<Coding, Decode>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/**
 * Undefined for bytes that are not in that coding, and for more than `most` bytes of content. Bytes after the coded ones,
 * which most decoders step over, would be lost: undefined as well.
 */
export function decode(bytes: Buffer, coding: Coding, most: number): Buffer | undefined {
  try {
    const { buffer, engine } = DECODERS[coding](bytes, { maxOutputLength: most, info: true }) as Decoded;
    return engine.bytesWritten === bytes.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}
