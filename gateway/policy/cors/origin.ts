// Origins of web pages as the Fetch standard serialises them.

/** Stands for every page. */
export const ANY_ORIGIN = '*';

/** An origin exactly as browsers serialise it, or `*`; undefined for anything else, `null` included. */
export function parseOrigin(text: string): string | undefined {
  if (text === ANY_ORIGIN) return text;
  if (!/^https?:\/\/[^*]+$/.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin === text ? text : undefined;
}
