// Requests every spelling as each caller: none may reach a handler that the policy denies to the caller.
import { type Client, overHttp1 } from '../support/http-client.ts';
import type { Holds, MountedApi } from './routes.ts';
import type { Spelling } from './spellings.ts';

export interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly holds: Holds;
}

export interface Judged {
  readonly asked: number;
  /** Requests that reached a handler. */
  readonly served: number;
  /** A line for each request that reached a forbidden handler. */
  readonly leaks: readonly string[];
  /** A line for each plain spelling that was refused to a permitted caller. */
  readonly unserved: readonly string[];
}

const AT_ONCE = 8;

/** Sends the spellings directly to a service. Returns the reached handler, or the status, by path. */
export async function askDirectly(
  url: string,
  below: string,
  spellings: readonly Spelling[],
): Promise<ReadonlyMap<string, string>> {
  await using client = overHttp1(Number(new URL(url).port), { tls: false });
  const seen = new Map<string, string>();
  await inParallel(spellings, async ({ path }) => {
    seen.set(path, await answerTo(client, below + path, {}));
  });
  return seen;
}

/** Sends the spellings through a gateway at `port`. */
export async function judge(
  port: number,
  api: MountedApi,
  callers: readonly Caller[],
  spellings: readonly Spelling[],
): Promise<Judged> {
  await using client = overHttp1(port);
  const leaks: string[] = [];
  const unserved: string[] = [];
  let asked = 0;
  let served = 0;
  for (const { name, headers, holds } of callers) {
    // With the scope, only retired operations are forbidden.
    const wanted = spellings.filter(
      ({ of, how }) => holds !== 'scope' || how === 'plain' || !api.mayReach(of, holds),
    );
    asked += wanted.length;
    await inParallel(wanted, async ({ of, how, path }) => {
      const answer = await answerTo(client, api.base + path, headers);
      const isHandler = /^[a-z]/.test(answer);
      if (isHandler) served += 1;
      const line = `${api.base}${path} (${of}: ${how}) got ${answer} as ${name}`;
      if (isHandler && !api.mayReach(answer, holds)) leaks.push(line);
      if (how === 'plain' && api.mayReach(of, holds) && answer !== of) unserved.push(line);
    });
  }
  return { asked, served, leaks, unserved };
}

/** Returns the handler's name or the status. 0 if the bytes are no response: a proxy split requests. */
async function answerTo(client: Client, path: string, headers: Caller['headers']): Promise<string> {
  const { status, text } = await client.ask({ path, headers }).catch((error: Error) => {
    if ('code' in error && String(error.code).startsWith('HPE_')) return { status: 0, text: '' };
    throw error;
  });
  return /^reached (\w+)/.exec(text)?.[1] ?? String(status);
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  // The workers share one iterator.
  const left = items.values();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const item of left) await work(item);
  });
  await Promise.all(workers);
}
