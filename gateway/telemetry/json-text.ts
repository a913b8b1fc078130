// Hostile text as JSON: one line, ASCII only, so that no byte of a request can forge a line or steer a terminal.
// Used by the access log for each field and by the logger for the finished line.

const OUTSIDE_ASCII = /[^\n -~]/g;

/** `text` as a JSON string of at most `cap` characters before escaping; a longer text ends in an ellipsis. */
export function jsonString(text: string, cap: number): string {
  const kept = text.length > cap ? `${text.slice(0, cap)}…` : text;
  return asciiJson(JSON.stringify(kept));
}

/**
 * Finished JSON with everything outside ASCII written as \u escapes. JSON lets DEL, C1 controls, U+2028 and the
 * bidirectional overrides stand raw; log viewers do not all survive them.
 */
export function asciiJson(json: string): string {
  return json.replace(OUTSIDE_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
