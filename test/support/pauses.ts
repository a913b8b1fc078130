// Begins and ends pauses through the admin API of a running gateway.
import type { RunningGateway } from './gateway.ts';
import { type Answer, overHttp1 } from './http-client.ts';

export interface PauseOf {
  readonly api: string;
  readonly version?: string;
  /** Lifecycle instant. */
  readonly until: number;
}

export const AUTHOR = 'alice of the api team';
export const REASON = 'incident 4711';

/** @throws Error with the response if the pause is refused */
export async function beginPause(gateway: RunningGateway, { until, ...subject }: PauseOf): Promise<string> {
  const body = {
    ...subject,
    until: Temporal.Instant.fromEpochMilliseconds(until).toString(),
    by: AUTHOR,
    why: REASON,
  };
  const { status, text, json } = await write(gateway, 'POST', '/-/pauses', body);
  const { pause } = json as { pause?: { id?: string } };
  if (status !== 201 || pause?.id === undefined) throw new Error(`no pause: ${status} ${text}`);
  return pause.id;
}

/** @throws Error with the response if there is no such pause */
export async function endPause(gateway: RunningGateway, id: string): Promise<void> {
  const { status, text } = await write(gateway, 'DELETE', `/-/pauses/${id}`, { by: AUTHOR, why: 'mended' });
  if (status !== 200) throw new Error(`pause ${id} goes on: ${status} ${text}`);
}

async function write(gateway: RunningGateway, method: string, path: string, body: object): Promise<Answer> {
  await using admin = overHttp1(gateway.admin, { tls: false });
  const text = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${await gateway.adminToken()}`,
    'content-type': 'application/json',
    // Node sends no length for the body of a DELETE.
    'content-length': String(Buffer.byteLength(text)),
  };
  return await admin.ask({ method, path, headers, body: text });
}
