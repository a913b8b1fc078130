// Rules for every request to an issuer: allowed URLs, response size and error texts.

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** JWT-4: https, or http on a loopback host. @throws TypeError for an invalid or forbidden URL. */
export function issuerAddress(url: string): URL {
  const address = new URL(url);
  const safe =
    address.protocol === 'https:' || (address.protocol === 'http:' && LOOPBACK.test(address.hostname));
  if (!safe) throw new TypeError('an issuer URL must use https, or http on a loopback host');
  if (address.username !== '' || address.password !== '') {
    throw new TypeError('an issuer URL must not contain credentials');
  }
  return address;
}

/** A response that cannot be used. */
export class UnusableResponse extends Error {
  readonly status: number;
  constructor(status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
  }
}

/**
 * The JSON of a 200 response. @throws UnusableResponse for another status, for invalid JSON, or above `mostBytes` after
 * decompression. `what` names the response in messages.
 */
export async function readResponse(response: Response, what: string, mostBytes: number): Promise<unknown> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new UnusableResponse(response.status, `the ${what} response has status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // An exception in the loop cancels the body, so a huge response is not read beyond the limit.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes)
      throw new UnusableResponse(200, `the ${what} response is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw new UnusableResponse(200, `the ${what} response is not JSON`, error);
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
