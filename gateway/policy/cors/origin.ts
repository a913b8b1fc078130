// Parses origins of web pages as the Fetch standard serialises them.

export const ANY_ORIGIN = '*';

/** An origin exactly as browsers serialise it, or `*`. Undefined for any other text, `null` included. */
export function parseOrigin(text: string): string | undefined {
  if (text === ANY_ORIGIN) return text;
  if (!/^https?:\/\/[^*]+$/.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin === text ? text : undefined;
}
