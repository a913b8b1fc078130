// What may be shown of a value of the documents: never what came from a variable or a file, never what is a secret by its place.
// The effective configuration goes through here leaf by leaf.
import type { Path, SourceDocument } from '../read/document.ts';

const REDACTED = '[redacted]';

/** By their key these are secrets wherever they stand. */
const SECRET_KEY = /^(?:token|password|secret)$/;
/** A header that the gateway sets may carry what opens the service behind. */
const SECRET_HEADER = /auth|cookie|token|secret|passw|credential|key/i;

const PEM = /-----BEGIN /;

/** `value` is a scalar of `document` at `path`. */
export function shownValue(document: SourceDocument, path: Path, value: unknown): unknown {
  // A text that stands for a section has its place there: `health: /healthz` is its path.
  const written = document.has(path) ? path : path.slice(0, -1);
  if (document.isOutside(written)) return document.show(written, value);
  const key = String(path.at(-1));
  if (SECRET_KEY.test(key) || (path.at(-2) === 'set' && SECRET_HEADER.test(key))) return REDACTED;
  if (typeof value !== 'string') return value;
  // The content of a file that the policy only names.
  if (PEM.test(value)) return document.written(path) ?? REDACTED;
  return withoutUserInfo(value);
}

/** `redis://user:password@host` as `redis://[redacted]@host`, each word of the text by itself. */
function withoutUserInfo(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const from = word.indexOf('://') + 3;
    const to = word.lastIndexOf('@');
    return from < 3 || to < from ? word : `${word.slice(0, from)}${REDACTED}${word.slice(to)}`;
  });
}
