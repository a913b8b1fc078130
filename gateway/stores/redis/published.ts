// The published files, shared by all gateways on one Redis.
import type { PublishedRecord } from '../../plan/published/record.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

// The braces are the hash tag of all keys whose changes are appended to the stream of changes.
const PUBLISHED = 'sundial:{state}:published';

/** No client waits for these calls. */
const SCRIPT_OPTIONS = { answerWithinMs: 1000 };

export function createRedisPublished(connection: RedisConnection): PublishedRecord {
  const write = connection.script('sundialWritePublished', luaText('write-published'), 1, SCRIPT_OPTIONS);
  return {
    read: readSharedPublished(connection),
    write: async (entries, mark) => (await write(PUBLISHED, await writePublished(entries), mark)) === 1,
  };
}

export function readSharedPublished({ script }: RedisConnection): PublishedRecord['read'] {
  const read = script('sundialReadPublished', luaText('read-published'), 1, SCRIPT_OPTIONS);
  return async () => {
    const reply = await read(PUBLISHED);
    const [text, mark]: readonly unknown[] = Array.isArray(reply) ? reply : [];
    return { entries: await readPublished(typeof text === 'string' ? text : undefined), mark: String(mark) };
  };
}
