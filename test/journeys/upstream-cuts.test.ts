// Upstreams that fail within a body: clients get a broken response, never a short one that looks complete.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrokenUpstream } from '../support/broken-upstream.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import type { RawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let gateway: RunningGateway;
let broken: RawUpstream;

beforeAll(async () => {
  broken = stack.use(await startBrokenUpstream());
  const { url } = broken;
  gateway = stack.use(
    await runGateway({
      policies: 'upstream-faults',
      environment: { BROKEN: url, DEAF: url, REFUSING: url, UNTRUSTED: url },
    }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s an upstream fails in the middle of a body', (protocol) => {
  it.concurrent.each([
    ['half-then-close', 'upstream_reset'],
    ['half-then-reset', 'upstream_reset'],
    ['half-chunked', 'upstream_reset'],
    ['stall', 'upstream_idle_timeout'],
    ['drip', 'upstream_total_timeout'],
  ])('FWD-17: %s interrupts the response, with the fault %s in the log', async (name, fault) => {
    const answer = await clients.get(protocol)?.ask({ path: `/api/broken/${name}?${protocol}` });
    expect(answer).toMatchObject({ status: 200, complete: false });
    expect(answer?.text).toMatch(/^(half of it\.?|\.+)$/);
    const line = await gateway.accessLine(answer?.headers['x-request-id']);
    expect(line).toMatchObject({ status: 200, aborted: true, bytes: answer?.body.length, fault });
    // FWD-16: part of the response was sent, so there is no retry.
    expect(broken.count(`/raw/${name}?${protocol}`)).toBe(1);
  });

  it('the next request of the same client gets 200', async () => {
    const answer = await clients.get(protocol)?.ask({ path: '/api/broken/stale' });
    expect(answer).toMatchObject({ status: 200, text: 'ok', complete: true });
  });
});
