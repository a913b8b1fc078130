// Link values (RFC 8288): those of a phase, built with the plan, and the line of one answer.
import type { Phase } from './schedule.ts';

/** All that may not stand raw in a link target: beyond visible ASCII, and what would end the target or a quoted-string. */
const UNSAFE = /[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d-\x7e]/gu;
/** Visible, and yet in no path of RFC 3986; brackets belong to an authority alone. */
const NO_PATH = /[[\]^`{|}]/g;
/** What most targets are made of: nothing in them needs encoding. */
const PLAIN = /^[\w./:%~-]*$/;
const PARTS = /^((?:https?:\/\/[^/?#]*)?)([^?#]*)/;

/**
 * The `Link` line to append after the upstream's own (LNK-1), or undefined when this phase has none.
 * `successorUrl` is this resource in the successor, absolute and without a query (LNK-2).
 */
export function linkValue(phase: Phase, successorUrl: string | undefined): string | undefined {
  if (!phase.linksSuccessor || successorUrl === undefined)
    return phase.links === '' ? undefined : phase.links;
  const successor = link(successorUrl, 'successor-version');
  return phase.links === '' ? successor : `${phase.links}, ${successor}`;
}

/** One link value. `rel` and `type` are words of ours; the target may hold a client's path and is encoded (LNK-3). */
export function link(target: string, rel: string, type?: string): string {
  const value = `<${linkTarget(target)}>; rel="${rel}"`;
  return type === undefined ? value : `${value}; type="${type}"`;
}

/** A link value made ahead; the safe tail of a resource comes between. */
export interface LinkFrame {
  readonly before: string;
  readonly after: string;
}

export function linkFrame(prefix: string, rel: string): LinkFrame {
  return { before: `<${linkTarget(prefix)}`, after: `>; rel="${rel}"` };
}

/**
 * A URL with everything percent-encoded that could end a link target, a quoted-string or a header line (LNK-3), and in
 * its path what no URI has. A query keeps its own bytes otherwise (RET-2).
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
