// Writes Link header values (RFC 8288).
import type { Phase } from './schedule.ts';

/** Characters that a link target must encode: outside visible ASCII, or able to end the target or a quoted-string. */
const UNSAFE = /[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d-\x7e]/gu;
/** Visible characters that RFC 3986 allows in no path. Brackets are allowed in an authority only. */
const NO_PATH = /[[\]^`{|}]/g;
/** A fast path: most targets need no encoding. */
const PLAIN = /^[\w./:%~-]*$/;
const PARTS = /^((?:https?:\/\/[^/?#]*)?)([^?#]*)/;

/**
 * The `Link` line to append after the upstream's own (LNK-1). Undefined if the phase has no link. `successorUrl`: this
 * resource in the successor, absolute and without a query (LNK-2).
 */
export function linkValue(phase: Phase, successorUrl: string | undefined): string | undefined {
  if (!phase.linksSuccessor || successorUrl === undefined)
    return phase.links === '' ? undefined : phase.links;
  const successor = link(successorUrl, 'successor-version');
  return phase.links === '' ? successor : `${phase.links}, ${successor}`;
}

/** The target is encoded, because it may contain a path that the client chose (LNK-3). `rel` and `type` are not. */
export function link(target: string, rel: string, type?: string): string {
  const value = `<${linkTarget(target)}>; rel="${rel}"`;
  return type === undefined ? value : `${value}; type="${type}"`;
}

/** A prepared link value. The safe tail of a resource goes between the two parts. */
export interface LinkFrame {
  readonly before: string;
  readonly after: string;
}

export function linkFrame(prefix: string, rel: string): LinkFrame {
  return { before: `<${linkTarget(prefix)}`, after: `>; rel="${rel}"` };
}

/**
 * Percent-encodes characters that could end a link target, a quoted-string or a header line (LNK-3), and in the path those
 * that no URI allows. All other bytes of a query stay unchanged (RET-2).
 */
export function linkTarget(url: string): string {
  if (PLAIN.test(url)) return url;
  const safe = url.toWellFormed().replace(UNSAFE, encodeURIComponent);
  return safe.search(NO_PATH) >= 0
    ? safe.replace(PARTS, (_whole, origin: string, path: string) => origin + inPath(path))
    : safe;
}

function inPath(path: string): string {
  return path.replace(NO_PATH, encodeURIComponent);
}
