// Waits until the echo upstream has `count` requests in progress.
import { expect, vi } from 'vitest';
import type { Service } from '../../upstreams/service/listen.ts';
import { overHttp1 } from './http-client.ts';

export async function untilInFlight({ port }: Pick<Service, 'port'>, count: number): Promise<void> {
  await using client = overHttp1(port, { tls: false });
  await vi.waitFor(
    async () => expect((await client.ask({ path: '/echo/-/count' })).json.active).toBe(count),
    { timeout: 40_000 },
  );
}
