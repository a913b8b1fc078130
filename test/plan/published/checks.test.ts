// Tests the findings about CORS origins and reserved paths.
import { describe, expect, it } from 'vitest';
import { ORDERS, workspace } from '../workspace.ts';

async function problemsOf(from: string | RegExp, to: string): Promise<readonly string[]> {
  const text = ORDERS.replace(from, to);
  expect(text).not.toBe(ORDERS);
  await using files = await workspace({ 'policies/orders.yaml': text });
  return await files.problems();
}

const withOrigins = (origins: string) => problemsOf('access:', `cors: { origins: ${origins} }\naccess:`);

describe('origins', () => {
  it.each([
    '["*"]',
    '["https://app.example.com"]',
    '["https://app.example.com:8443", "http://localhost:3000", "http://[::1]:3000"]',
  ])('%s are valid', async (origins) => {
    expect(await withOrigins(origins)).toEqual([]);
  });

  it.each([
    'https://app.example.com/',
    'https://app.example.com:443',
    'https://App.example.com',
    'https://*.example.com',
    'https://user@app.example.com',
    'app.example.com',
    'ftp://app.example.com',
    'null',
  ])('"%s" is not an origin of a browser', async (origin) => {
    const [problem, ...more] = await withOrigins(`["${origin}"]`);
    expect(problem).toContain('error: not an origin as browsers send it');
    expect(more).toEqual([]);
  });

  it('"*" excludes other origins', async () => {
    const [problem] = await withOrigins('["*", "https://app.example.com"]');
    expect(problem).toContain('error: "*" stands alone');
  });
});

describe('reserved paths', () => {
  it.each([
    ['/.well-known/api-catalog', '/.well-known/api-catalog'],
    ['/.well-known/oauth-protected-resource/orders', '/.well-known/oauth-protected-resource'],
    ['/.well-known/lifecycle', '/.well-known/lifecycle'],
  ])('an API at %s is refused', async (base, reserved) => {
    expect(await problemsOf('base: /api/orders', `base: ${base}`)).toEqual([
      `policies/orders.yaml:2 «${base}» error: ${reserved} is reserved by the gateway`,
    ]);
  });

  it('a versioned path below one is refused', async () => {
    const [problem] = await problemsOf('/api/{version}/orders', '/.well-known/lifecycle/{version}');
    expect(problem).toContain('error: /.well-known/lifecycle is reserved by the gateway');
  });

  it.each(['/.well-known', '/', '/.well-known/lifecycles'])('an API at %s is valid', async (base) => {
    expect(await problemsOf('base: /api/orders', `base: ${base}`)).toEqual([]);
  });
});
