// `sundial explain`: requests that a listener would refuse, and invalid requests.
import { describe, expect, it } from 'vitest';
import { NOW, workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';
import { ORDERS, policies } from './explained-orders.ts';

describe('explain', () => {
  it('a pause that ends at the judged instant is wrong usage', async () => {
    await using files = await workspace(policies);
    expect(await explain(files, 'GET /api/v1/orders', { paused: NOW })).toEqual({
      exitCode: 2,
      text: 'sundial: --paused must be later than the instant the request is judged at\n',
    });
  });

  it.each([
    ['TRACE /api/v2/orders', 'method_unknown', 501],
    ['GET /api/../orders', 'request_malformed', 400],
    ['GET /%00?a=%00', 'request_malformed', 400],
    ['GET https://other.example.com/api/v2/orders', 'host_unknown', 421],
    ['GET /nowhere', 'route_unknown', 404],
    ['/api/v2/orders/%2e%2e', 'request_malformed', 400],
  ])('refuses as a listener would: %s', async (request, reason, status) => {
    await using files = await workspace(policies);
    const { exitCode, text } = await explain(files, request, { format: 'json' });
    expect(exitCode).toBe(0);
    const { answer, request: shown } = JSON.parse(text);
    expect(answer).toMatchObject({ reason, status });
    expect(shown.url.endsWith(request.replace(/^\w+ /, ''))).toBe(true);
  });

  it.each(['GET api/v1/orders', 'api/v1/orders', 'GET ftp://api.example.com/x'])(
    'a target that is neither a path nor a URL is wrong usage: %s',
    async (request) => {
      await using files = await workspace(policies);
      expect(await explain(files, request)).toEqual({
        exitCode: 2,
        text: 'sundial: Write a method and a path, such as GET /api/v1/orders.\n',
      });
    },
  );

  it.each([
    ['', []],
    ['GET', []],
    ['DELETE ', []],
    ['OPTIONS *', []],
    ['OPTIONS /api/v1/orders', ['Max-Forwards: 0']],
    ['GET /api /orders', []],
    ['GET /api/orders', ['API-Version']],
    ['GET /api/orders', [': v1']],
  ])('exits with 2 for an invalid request: %j %j', async (request, headers) => {
    await using files = await workspace(policies);
    const { exitCode, text } = await explain(files, request, { headers });
    expect(exitCode).toBe(2);
    expect(text).toMatch(/^sundial: .+\n$/);
  });

  it('prints the problems of invalid files', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('default: v2', 'default: v3'),
    });
    const { exitCode, text } = await explain(files, 'GET /api/v1/orders');
    expect(exitCode).toBe(1);
    expect(text).toContain('no version is called "v3"');
  });
});
