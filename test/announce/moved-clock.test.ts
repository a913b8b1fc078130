// A gateway with a moved lifecycle clock (`--at`) is a rehearsal: it shows due notices and sends none.
import { expect, it } from 'vitest';
import { noticeRoutes } from '../../gateway/admin/notices.ts';
import { openNotices } from '../../gateway/open-notices.ts';
import { openHarness } from './harness.ts';

it('a rehearsal sends nothing, stores nothing and logs this, and its dry run works', async () => {
  await using harness = await openHarness({ now: Date.UTC(2026, 11, 10) });
  await harness.announcer().announce();
  await harness.called('acme');
  harness.now = Date.UTC(2026, 11, 16);
  const kept: string[] = [];
  const announced = { ...harness.ports.announced, keep: async (id: string) => (kept.push(id) > 0 ? '' : id) };
  const said: string[] = [];
  const log = (message: string) => void said.push(message);
  const telemetry = {
    logger: { warn: log, error: log },
    metrics: { announced: () => undefined, announces: () => undefined },
  };
  const ports = { ...harness.ports, announced, overrides: { current: () => [] } };
  const notices = await openNotices({ notify: harness.ports.settings }, telemetry, ports, {
    isRehearsal: true,
  });
  notices.begin();
  const { onRequest: asked } = notices;
  const routes = noticeRoutes({ now: () => harness.now, notices: asked, plan: harness.ports.plan });
  const send = routes.find((route) => route.method === 'POST');
  if (send?.method !== 'POST') throw new Error('nothing sends notices');
  const request = { parameter: () => '', query: new URLSearchParams(), accept: undefined };
  const { answer } = await send.perform({ ...request, body: { by: 'maria', why: 'now' } });
  expect(answer).toMatchObject({
    status: 409,
    body: expect.stringContaining('`sundial run --at … --notify`'),
  });
  const shown = await asked?.preview({ at: undefined, api: undefined, consumer: undefined });
  expect(shown?.mails).toHaveLength(1);
  await notices[Symbol.asyncDispose]();
  expect([harness.mails.mails, kept]).toEqual([[], []]);
  expect(said).toEqual(['the lifecycle clock was moved by --at: notices are not sent']);
});
