// The token that writes through the admin listener need: what one looks like, and where one that nobody configured lies.
// The listener makes and compares it, the command line sends it; neither ever shows it.

/** In the data folder, for its owner only (0600). */
export const ADMIN_TOKEN_FILE = 'admin-token';

const TOKEN = /^[A-Za-z0-9._~+/-]{32,512}={0,2}$/;

/** The token68 characters that a Bearer credential may have (RFC 6750 §2.1), at least 32 of them; undefined for any other text. */
export function parseAdminToken(text: string): string | undefined {
  return TOKEN.test(text) ? text : undefined;
}
