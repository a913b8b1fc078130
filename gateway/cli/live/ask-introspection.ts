// Whether an introspection endpoint answers the gateway's credentials: it is asked about a token that nobody was given.
// Nothing of the answer is shown, and of the credentials nothing at all.
import type { IntrospectionIdentity } from '../../plan/settings.ts';
import { connectionFault } from '../connection-words.ts';
import type { Bounds } from './bounded.ts';
import { readText } from './fetch-key-set.ts';

const NOBODYS_TOKEN = 'sundial-check-live';

/** What is wrong, or undefined. */
export async function askIntrospection(
  { endpoint, client }: Pick<IntrospectionIdentity, 'endpoint' | 'client'>,
  { signal, seconds }: Bounds,
): Promise<string | undefined> {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  const credentials = Buffer.from(`${encode(client.id)}:${encode(client.secret)}`).toString('base64');
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      signal,
      redirect: 'error',
      headers: { accept: 'application/json', authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ token: NOBODYS_TOKEN, token_type_hint: 'access_token' }),
    });
    if (response.status === 200) return judge(await readText(response));
    await response.body?.cancel();
    return response.status === 401 || response.status === 403
      ? `it does not take the id and secret of client (${response.status})`
      : `it answers with status ${response.status}`;
  } catch (error) {
    // Of `fetch` itself; what happened is the cause.
    const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
    return connectionFault(cause, seconds);
  }
}

function judge(text: string | undefined): string | undefined {
  const active = text === undefined ? undefined : /"active"\s*:\s*(true|false)/.exec(text)?.[1];
  if (active === undefined) return 'its answer does not say whether a token is active';
  return active === 'false' ? undefined : 'it calls a token active that nobody was given';
}
