// The body of an admin write: JSON in UTF-8 and nothing else, small, and what is wrong with any other.
// Set up on the framework by admin-listener.ts.
import type { FastifyInstance } from 'fastify';
import { type AdminAnswer, errorAnswer } from './answers.ts';

const MOST_BODY_BYTES = 64 * 1024;

class BodyUnreadable extends Error {}

/** No other media type is taken, so that no form of a page elsewhere can pass for a write. */
export function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MOST_BODY_BYTES },
    async (_request: unknown, bytes: Buffer): Promise<unknown> => parseJson(bytes),
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new BodyUnreadable('not JSON', { cause: error });
  }
}

/** The answer to a body that was not taken; undefined for any other error. */
export function bodyRefusal(error: unknown): AdminAnswer | undefined {
  if (error instanceof BodyUnreadable) return errorAnswer(400, 'The body is no JSON in UTF-8.');
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return errorAnswer(415, 'Send the body as Content-Type: application/json.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return errorAnswer(413, `The body may have at most ${MOST_BODY_BYTES / 1024} KiB.`);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    // Whoever sent it is gone: the answer is for the audit.
    case 'ECONNRESET':
      return errorAnswer(400, 'The body is not as long as Content-Length says.');
    default:
      return undefined;
  }
}
