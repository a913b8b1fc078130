// `sundial explain` with a method override header: the decision, and the line that keeps the header.
import { describe, expect, it } from 'vitest';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';

const POLICY = `api: orders
base: /api/orders
access: public
headers:
  request:
    keep: [X-HTTP-Method]
    from: trusted_proxies
upstreams: { orders: { targets: [http://127.0.0.1:4001] } }
versions: none
`;
const GATEWAY = `public: https://api.example.com
listeners: { https: { address: "127.0.0.1:8443" } }
trusted_proxies: [10.0.0.0/8]
policies: ../policies/*.yaml
`;

async function lastDecision(request: string, header: string, policy = POLICY): Promise<unknown> {
  await using files = await workspace({ 'config/gateway.yaml': GATEWAY, 'policies/orders.yaml': policy });
  const { exitCode, text } = await explain(files, request, { headers: [header], format: 'json' });
  expect(exitCode, text).toBe(0);
  return JSON.parse(text).decisions.at(-1);
}

describe('ORD-2: explain with a method override header', () => {
  it('shows the refusal, its reason, and the line that trusts only proxies', async () => {
    expect(await lastDecision('POST /api/orders', 'X-HTTP-Method: DELETE')).toMatchObject({
      step: 'refused',
      value: 'method_overridden',
      detail: 'headers.request.keep lets no X-HTTP-Method of this caller through',
      origin: { file: 'policies/orders.yaml', line: 6 },
    });
  });

  it('forwards a header with the same method, or one that is kept from any caller', async () => {
    const forward = { step: 'forward', value: 'orders' };
    expect(await lastDecision('POST /api/orders', 'X-HTTP-Method: post')).toMatchObject(forward);
    const kept = POLICY.replace('from: trusted_proxies', 'from: any');
    expect(await lastDecision('POST /api/orders', 'X-HTTP-Method: DELETE', kept)).toMatchObject(forward);
  });
});
