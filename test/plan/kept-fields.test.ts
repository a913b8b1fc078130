// Tests `headers.request.keep`: forgeable fields that a policy may forward, and the findings about them.
import { describe, expect, it } from 'vitest';
import { workspace } from './workspace.ts';

const gateway = (more = '') => `public: https://api.example.com
listeners: { http: { address: "127.0.0.1:8080" } }
${more}
policies: ../policies/*.yaml
`;
const policy = (request: string, more = '') => `api: orders
base: /api/orders
resolve: [ { header: X-Which } ]
access: public
headers: { request: { ${request} } }
upstreams: { v1: { targets: ["http://127.0.0.1:4001"]${more} } }
versions:
  v1: { released: 2024-06-01 }
`;

async function said(
  text: string,
  config = gateway('trusted_proxies: [10.0.0.0/8]'),
): Promise<readonly string[]> {
  await using folder = await workspace({ 'config/gateway.yaml': config, 'policies/orders.yaml': text });
  const { problems } = await folder.load();
  return problems.map(
    ({ line, severity, message, hint }) =>
      `${line} ${severity}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
}

describe('XFF-1: headers.request.keep', () => {
  it('takes fields of the table, from trusted proxies or from any client', async () => {
    expect(await said(policy('keep: [X-Auth-Request-User, remote-user, X-User-Id], from: any'))).toEqual([]);
    expect(await said(policy('keep: [X-Real-IP], from: trusted_proxies'))).toEqual([]);
    await using folder = await workspace({
      'policies/orders.yaml': policy('keep: [X-Real-IP, Remote-User], from: any'),
    });
    const { plan } = await folder.load();
    expect(plan?.apis[0]?.headers?.kept).toEqual({ names: ['x-real-ip', 'remote-user'], from: 'any' });
  });

  it('needs from, with a hint', async () => {
    expect(await said(policy('keep: [Remote-User]'))).toEqual([
      '5 error: keep needs from: the requests whose fields are kept (write from: trusted_proxies if your proxies set the fields, or from: any)',
    ]);
    expect(await said(policy('from: any'))).toEqual(['5 error: from has no effect without keep']);
  });

  it.each(
    [
      ['Connection', 'TE', 'Host', 'Content-Length', 'Via', 'X-Request-Id', 'Forwarded', 'Proxy'],
      ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Prefix', 'Traceparent'],
    ].flat(),
  )('never keeps %s', async (name) => {
    expect(await said(policy(`keep: [${name}], from: any`))).toEqual([
      `5 error: ${name.toLowerCase()} cannot be kept: it belongs to the connection, or the gateway sets it`,
    ]);
  });

  it.each([
    ['keep: [X-Which], from: any', 'x-which cannot be kept: it carries the version'],
    ['keep: [Remote-User, remote-user], from: any', 'remote-user is listed above'],
    [
      'keep: [Remote-User], from: any, set: { REMOTE-USER: a }',
      'remote-user is in keep and in set (name it in one of them: keep lets the value of the client through, set replaces it)',
    ],
    ['keep: [Remote-User], from: any, remove: [Remote-User]', 'remote-user is in keep and in remove'],
    ['keep: [X_Real_IP], from: any', 'not a field name of letters, digits and hyphens'],
    ['keep: [X.Real.IP], from: any', 'not a field name of letters, digits and hyphens'],
  ])('%s: %s', async (written, expected) => {
    expect((await said(policy(written))).join()).toContain(`5 error: ${expected}`);
  });

  it('has one finding for a field in keep, remove and set', async () => {
    const three = 'keep: [X-User-Id], from: any, remove: [X-User-Id], set: { X-User-Id: a }';
    expect(await said(policy(three))).toEqual([
      '5 error: x-user-id is in keep and in set and remove (name it in one of them: keep lets the value of the client through, set replaces it, remove drops it)',
    ]);
  });

  it('shows findings for the other names beside a malformed one', async () => {
    expect(await said(policy('keep: [X_Foo, Host], from: any'))).toEqual([
      '5 error: not a field name of letters, digits and hyphens: "X_Foo"',
      '5 error: host cannot be kept: it belongs to the connection, or the gateway sets it',
    ]);
  });

  it('does not keep a field that names the consumer to the upstream', async () => {
    const told = ', identity_headers: { consumer: X-Remote-User }';
    expect(await said(policy('keep: [X-Remote-User], from: any', told))).toEqual([
      '5 error: x-remote-user cannot be kept: identity_headers sets it',
    ]);
  });

  it('warns of a name that is forwarded anyway', async () => {
    expect(await said(policy('keep: [X-Debug], from: any'))).toEqual([
      '5 warning: keep has no effect: x-debug is forwarded anyway (remove it)',
    ]);
  });

  it('warns if no proxy is trusted', async () => {
    expect(await said(policy('keep: [Remote-User], from: trusted_proxies'), gateway())).toEqual([
      '5 warning: keep has no effect: gateway.yaml has no trusted_proxies (add the addresses of your proxies there)',
    ]);
  });
});
