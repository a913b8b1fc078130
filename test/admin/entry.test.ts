// What the admin listener says to a path it does not have.
import { expect, it } from 'vitest';
import { jsonAnswer } from '../../gateway/admin/answers.ts';
import { judgeEntry } from '../../gateway/admin/entry.ts';
import type { Route } from '../../gateway/admin/route.ts';

const show = () => jsonAnswer(200, {});
const perform = async () => ({ answer: show(), audit: {} });
const routes: readonly Route[] = [
  { method: 'GET', path: '/metrics', open: true, show },
  { method: 'GET', path: '/healthz', alias: true, open: true, show },
  { method: 'GET', path: '/-/overrides', show },
  { method: 'POST', path: '/-/pauses', action: 'pause', perform },
  { method: 'GET', path: '/-/pins/{api}/{account}', show },
  { method: 'PUT', path: '/-/pins/{api}/{account}', action: 'upgrade_pin', perform },
];

it('an unknown path is told of every path there is, once, those that are only written to included', () => {
  const rules = { routes, boundHost: '127.0.0.1', exposed: false, hasToken: () => false };
  const entry = judgeEntry(rules, { method: 'GET', url: '/-/pin', headers: { host: '127.0.0.1' } });
  const { status, body } = entry.kind === 'refused' ? entry.answer : jsonAnswer(200, {});
  expect(status).toBe(404);
  expect(JSON.parse(body)).toMatchObject({
    message: 'There is no such page. There are /metrics, /-/overrides, /-/pauses, /-/pins/{api}/{account}.',
  });
});
