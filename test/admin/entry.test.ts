// Refusals of the admin listener for an unknown path and for two Host fields.
import { expect, it } from 'vitest';
import { decideAccess } from '../../gateway/admin/access.ts';
import { jsonAnswer } from '../../gateway/admin/answers.ts';
import type { AdminRoute } from '../../gateway/admin/route.ts';

const show = () => jsonAnswer(200, {});
const perform = async () => ({ answer: show(), audit: {} });
const routes: readonly AdminRoute[] = [
  { method: 'GET', path: '/metrics', open: true, show },
  { method: 'GET', path: '/healthz', alias: true, open: true, show },
  { method: 'GET', path: '/-/overrides', show },
  { method: 'POST', path: '/-/pauses', action: 'pause', perform },
  { method: 'GET', path: '/-/pins/{api}/{account}', show },
  { method: 'PUT', path: '/-/pins/{api}/{account}', action: 'upgrade_pin', perform },
];

const rules = { routes, boundHost: '127.0.0.1', anyHost: false, exposed: false, hasToken: () => false };
const refusalOf = (url: string, hosts: number) => {
  const entry = decideAccess(rules, { method: 'GET', url, hosts, headers: { host: '127.0.0.1' } });
  return entry.kind === 'refused' ? entry.answer : jsonAnswer(200, {});
};

it('the 404 for an unknown path lists each path once, including paths that only take writes', () => {
  const { status, body } = refusalOf('/-/pin', 1);
  expect(status).toBe(404);
  expect(JSON.parse(body)).toMatchObject({
    message:
      'There is no such page. Known pages: /metrics, /-/overrides, /-/pauses, /-/pins/{api}/{account}.',
  });
});

it('a request with two Host fields is refused', () => {
  expect([refusalOf('/metrics', 1).status, refusalOf('/metrics', 2).status]).toEqual([200, 400]);
});
