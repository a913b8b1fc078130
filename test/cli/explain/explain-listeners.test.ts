// `sundial explain` for the checks of a listener: bounds, bodies, certificates and plain HTTP.
import { describe, expect, it } from 'vitest';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';
import { makeKeyPair } from '../../support/key-pairs.ts';

const GATEWAY = `public: https://a.example
listeners:
  https:
    address: ":8443"
    tls:
      certificates:
        - { names: [a.example], cert: pair.crt, key: pair.key }
        - { names: ["*.b.example"], cert: pair.crt, key: pair.key }
  http: { address: ":8080", mode: redirect }
store: embedded:./data
bounds: { target_bytes: 1KB, header_bytes: 2KB, header_fields: 20 }
policies: ../policies/*.yaml
`;
const UPLOADS = `api: uploads
host: [a.example, x.b.example]
base: /uploads
access: public
max_body: 100B
headers: { response: { set: { X-Frame-Options: DENY } } }
upstreams: { uploads: { targets: [http://127.0.0.1:4001] } }
versions: none
`;
const pair = await makeKeyPair({ names: ['a.example', '*.b.example'] });

interface Told {
  readonly answer: {
    readonly reason?: string;
    readonly status?: number;
    readonly headers: Record<string, string>;
  };
  readonly decisions: readonly {
    readonly step: string;
    readonly value: string;
    readonly assumed?: string;
    readonly origin?: { readonly file: string; readonly line: number };
  }[];
}

async function explained(request: string, headers: readonly string[] = [], gateway = GATEWAY) {
  await using files = await workspace({
    'config/gateway.yaml': gateway,
    'config/pair.crt': pair.cert,
    'config/pair.key': pair.key,
    'policies/uploads.yaml': UPLOADS,
  });
  return await explain(files, request, { headers, format: 'json' });
}

async function told(request: string, headers: readonly string[] = []): Promise<Told> {
  const { exitCode, text } = await explained(request, headers);
  expect(exitCode, text).toBe(0);
  return JSON.parse(text);
}

describe('explain of the decisions of a listener', () => {
  it.each<[string, string, readonly string[], string, number]>([
    [
      'SMG-24: a request target above its bound',
      `GET /uploads?${'x'.repeat(1_024)}`,
      [],
      'request_malformed',
      414,
    ],
    [
      'SMG-24: header fields above their bound',
      'GET /uploads',
      [`X-Long: ${'x'.repeat(2_048)}`],
      'request_malformed',
      431,
    ],
    [
      'SMG-24: too many header fields',
      'GET /uploads',
      Array.from({ length: 20 }, (_, index) => `X-${index}: 1`),
      'request_malformed',
      431,
    ],
    [
      'SMG-17: a single-valued field twice',
      'GET /uploads',
      ['Range: bytes=0-1', 'range: bytes=2-3'],
      'request_malformed',
      400,
    ],
    ['FWD-11: an unknown expectation', 'GET /uploads', ['Expect: a miracle'], 'request_malformed', 417],
    ['FWD-10: a body above its bound', 'POST /uploads', ['Content-Length: 101'], 'body_too_large', 413],
    ['TLS-4: a host without a certificate', 'GET https://c.example/uploads', [], 'host_unknown', 421],
    ['TLS-5: plain HTTP is redirected', 'GET http://a.example/uploads', [], 'plain_http_moved', 301],
    [
      'TLS-5: a POST by plain HTTP is redirected',
      'POST http://a.example/uploads',
      [],
      'plain_http_moved',
      308,
    ],
    [
      'TLS-5: plain HTTP with a credential is refused',
      'GET http://a.example/uploads',
      ['Cookie: a=b'],
      'plain_http',
      400,
    ],
    [
      'TLS-5: plain HTTP with an unknown expectation is refused',
      'GET http://a.example/uploads',
      ['Expect: a miracle'],
      'plain_http',
      400,
    ],
  ])('%s', async (_title, request, headers, reason, status) => {
    expect((await told(request, headers)).answer).toMatchObject({ reason, status });
  });

  it('shows the port of the public address, or of the given URL', async () => {
    const gateway = GATEWAY.replace('//a.example', '//a.example:8443');
    const url = async (request: string) =>
      JSON.parse((await explained(request, [], gateway)).text).request.url;
    expect(await url('GET /uploads')).toBe('https://a.example:8443/uploads');
    expect(await url('GET https://a.example:9/uploads')).toBe('https://a.example:9/uploads');
  });

  it('TLS-4: a public host without a certificate is refused at the line of the certificates', async () => {
    const { text } = await explained('GET /uploads', [], GATEWAY.replace('//a.example', '//y.x.b.example'));
    expect(JSON.parse(text).decisions).toMatchObject([
      {
        step: 'refused',
        value: 'misdirected',
        detail: 'no certificate is for y.x.b.example',
        origin: { line: 6 },
      },
    ]);
  });

  it('FWD-10: a body of unknown length is assumed to be within its bound', async () => {
    const size = {
      step: 'size',
      value: 'at most 100 bytes',
      origin: { file: 'policies/uploads.yaml', line: 5 },
    };
    expect((await told('PUT /uploads')).decisions).toContainEqual(
      expect.objectContaining({
        ...size,
        origin: expect.objectContaining(size.origin),
        assumed: 'its body is no longer',
      }),
    );
    const known = (await told('PUT /uploads', ['Content-Length: 100'])).decisions;
    expect(known.find(({ step }) => step === 'size')?.assumed).toBeUndefined();
    expect((await told('GET /uploads')).decisions.map(({ step }) => step)).not.toContain('size');
  });

  it('TLS-4: with several certificates, the connection is assumed to be for the host', async () => {
    const { decisions } = await told('GET https://x.b.example/uploads');
    expect(decisions[0]).toMatchObject({ value: 'uploads', assumed: 'the connection is for x.b.example' });
    expect((await told('GET https://A.example/uploads')).answer.reason).toBeUndefined();
  });

  it('ORD-7: the response of the upstream has the fields that the policy sets', async () => {
    expect((await told('GET /uploads')).answer.headers).toMatchObject({ 'x-frame-options': 'DENY' });
  });

  it('plain HTTP is wrong usage if no listener speaks it', async () => {
    const secure = GATEWAY.replace(/^ {2}http: .*\n/m, '');
    expect(await explained('GET http://a.example/uploads', [], secure)).toMatchObject({
      exitCode: 2,
      text: 'sundial: No listener of this gateway accepts plain HTTP. Use an https URL.\n',
    });
  });
});
