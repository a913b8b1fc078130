// Undoes a content coding, with a bound on what comes out of it.
// For upstreams that send one although the gateway asked for none; used by held-body.ts.
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Coding } from '../policy/body-notice/editable.ts';

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const DECODERS: Readonly<Record<Coding, Decode>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Undefined for bytes that are not in that coding, and for more than `most` bytes of content. */
export function decode(bytes: Buffer, coding: Coding, most: number): Buffer | undefined {
  try {
    return DECODERS[coding](bytes, { maxOutputLength: most });
  } catch {
    return undefined;
  }
}
