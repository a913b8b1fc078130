// Tests that findings quote no header values and no secrets, for every place and every kind of damage.
import { describe, expect, it } from 'vitest';
import { isConcealed } from '../../gateway/plan/read/concealed.ts';
import { diff } from '../support/file-commands.ts';
import { placesOf } from '../support/grammar-places.ts';
import { CANARY, FORMS, said } from './canaries.ts';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

const NAMES = [
  'password',
  'passwd',
  'passphrase',
  'db_password',
  'secret',
  'client-secret',
  'client_secret',
  'token',
  'admin_token',
  'api_key',
  'apikey',
  'X-API-Key',
  'private_key',
  'Authorization',
  'auth',
  'basic-auth',
  'credential',
  'credentials',
  'cookie',
  'Set-Cookie',
  'bearer',
  'session',
  'signature',
  'signing',
  'pwd',
  'pass',
  'private',
  'jwt',
  'hmac',
  'dsn',
  'connection_string',
  'salt',
  'sas',
];
const numeric = '480151623';

const inGateway = (text: string) => said(ORDERS, text);
const inPolicy = (text: string) => said(text, GATEWAY);

/** The texts with a finding that quotes the canary, with the quoting line. */
async function leaks(
  texts: readonly string[],
  tell: (text: string) => Promise<string>,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const text of texts) {
    const line = (await tell(text)).split('\n').find((each) => each.includes(CANARY));
    if (line !== undefined)
      found.push(`${text.split('\n').find((each) => each.includes(CANARY))} -> ${line}`);
  }
  return found;
}

describe('findings do not quote the value', () => {
  it.each([
    ['request', 'set'],
    ['response', 'set'],
    ['request', 'sett'],
    ['requests', 'set'],
  ])('of a header rule: headers.%s.%s', async (direction, verb) => {
    const found: string[] = [];
    for (const form of FORMS) {
      const value = form.replaceAll('%', CANARY);
      const texts = [
        `${ORDERS}headers:\n  ${direction}:\n    ${verb}:\n      X-Tenant: ${value}\n      Connection: x\n`,
        `${ORDERS}headers: { ${direction}: { ${verb}: { Connection: x, X-Tenant: ${value} } } }\n`,
        `${ORDERS}headers: { ${direction}: { X-Tenant: ${value} } }\n`,
        `${ORDERS}headers: { X-Tenant: ${value} }\n`,
        `${ORDERS}expect: [{ request: GTE /, headers: { X-Tenant: ${value} } }]\n`,
      ];
      found.push(...(await leaks(texts, inPolicy)));
    }
    expect(found).toEqual([]);
  });

  it.each(NAMES.map((name, index) => ({ name, index })))(
    'of a key named $name, in any place',
    async ({ name, index }) => {
      const found: string[] = [];
      // Each name is tried with an eighth of the forms, and each form with an eighth of the names.
      for (const form of FORMS.filter((_, at) => at % 8 === index % 8)) {
        const value = form.replaceAll('%', CANARY);
        const policies = [
          `${ORDERS}${name}: ${value}\n`,
          ORDERS.replace('v2: { targets', `v2: { ${name}: ${value}, targets`),
          ORDERS.replace('identity: main', `identity: main, ${name}: ${value}`),
          ORDERS.replace('v2: { released', `v2: { ${name}: ${value}, released`),
        ];
        const gateways = [
          `${GATEWAY}${name}: ${value}\n`,
          GATEWAY.replace('{ main: { ', `{ main: { ${name}: ${value}, `),
          GATEWAY.replace('admin: { ', `admin: { ${name}: ${value}, `),
        ];
        found.push(...(await leaks(policies, inPolicy)), ...(await leaks(gateways, inGateway)));
      }
      expect(found).toEqual([]);
    },
  );

  it.each([
    `${ORDERS}headers:\n  request:\n    set:\n\tX-Tenant: ${CANARY}\n`,
    `${ORDERS}headers:\n  request:\n    set:\n  \t X-Tenant:${CANARY}\n`,
    `${ORDERS}authorization: ${CANARY}\n`,
  ])('on a line with tabs, or under a key that belongs elsewhere: %j', async (text) =>
    expect(await leaks([text], inPolicy)).toEqual([]),
  );

  it('in a file with another fault: a conflict, bytes that are not UTF-8, an open quote', async () => {
    const found: string[] = [];
    for (const form of FORMS) {
      const value = form.replaceAll('%', CANARY);
      for (const rule of [
        `headers:\n  request:\n<<<<<<< HEAD\n    set:\n      X-Foo: ${value}\n=======\n    set: { X-Foo: ${value} }\n`,
        `limits:\n  secrets:\n  - ${value}\n\tother\n`,
        `credentials:\n  user: "bob\n  more: ${value}\n`,
        `password: ${value} \ufffd\n`,
        `headers: { request: { set: { X-Foo: ${value}\n`,
      ])
        found.push(...(await leaks([ORDERS + rule, rule + ORDERS], inPolicy)));
    }
    expect(found).toEqual([]);
  });

  it('that is a number instead of text', async () => {
    expect(await inPolicy(`${ORDERS}headers: { request: { set: { X-Pin: ${numeric} } } }\n`)).not.toContain(
      numeric,
    );
    const gateway = GATEWAY.replace('admin: { ', `admin: { token: ${numeric}, `);
    expect(await inGateway(gateway)).not.toContain(numeric);
  });
});

it('but quote values without secrets, even beside a secret', async () => {
  const text = await inPolicy(
    `${ORDERS}headers: { request: { set: { X-Key: ${CANARY} }, remove: ["X Y"] } }\n`,
  );
  expect(text).toContain('not a field name: "X Y"');
  expect(text).toContain('"X Y"] } }');
  expect(text).toContain(`X-Key: ${'*'.repeat(CANARY.length)} }`);
  expect(await inPolicy(ORDERS.replace('2027-01-15', '2027-13-01'))).toContain('sunset: 2027-13-01');
});

it('diff reports a changed header rule without its values', async () => {
  const rule = (value: string) => `${ORDERS}headers: { request: { set: { X-Tenant: ${value} } } }\n`;
  await using files = await workspace({ 'old.yaml': rule(`${CANARY}-1`), 'new.yaml': rule(`${CANARY}-2`) });
  for (const format of ['text', 'json'] as const) {
    const { text } = await diff(files, { format });
    expect(text).not.toContain(CANARY);
    expect(text).toContain('headers');
  }
});

describe('a key with one typo in the name of a secret', () => {
  const words = NAMES.filter((name) => /^[a-z]{4,}$/.test(name));
  const slips = [...words, 'key', 'dsn', 'pwd', 'jwt'].flatMap((word) => slipsOf(word, word.length > 3));
  const places = [...slips, ...slips.map((slip) => `db_${slip}`), ...slips.map((slip) => `smtp-${slip}-2`)];

  it('is concealed, alone and in a longer name', () => {
    expect(places.length).toBeGreaterThan(1_400);
    expect(places.filter((slip) => !isConcealed([slip]) || !isConcealed(['upstreams', 'v1', slip]))).toEqual(
      [],
    );
    expect(isConcealed(['clientSecert'])).toBe(true);
  });

  it('keeps its value out of every finding', async () => {
    for (const name of ['pasword', 'secert', 'tokne', 'credentails', 'Cokie', 'api_kye', 'athorization'])
      for (const value of [CANARY, `{ a: ${CANARY} }`, `[${CANARY}]`]) {
        const said = await inPolicy(ORDERS.replace('v2: { targets', `v2: { ${name}: ${value}, targets`));
        expect(said).toContain(`unknown key "${name}"`);
        expect(said.includes(CANARY)).toBe(false);
      }
  });

  it('is never a key of the grammars', () => {
    const secrets = /(?:^|\.)(?:token|secret|key|client)(?:\.|$)|^headers(?:$|\.)|^expect\.#\.headers/;
    const places = (['policy', 'gateway'] as const).flatMap((kind) => placesOf(kind).map(({ path }) => path));
    const free = places.filter((path) => !secrets.test(path) && isConcealed(path.split('.')));
    expect(free).toEqual([]);
  });
});

/** `word` with a letter missing, added, changed or moved. */
function slipsOf(word: string, isLong: boolean): readonly string[] {
  return [...word].flatMap((letter, at) => {
    const [before, after] = [word.slice(0, at), word.slice(at + 1)];
    const swapped = before + after.slice(0, 1) + letter + after.slice(1);
    const added = `${before}${letter}${letter}${after}`;
    return isLong ? [before + after, added, `${before}0${after}`, swapped] : [swapped];
  });
}

describe('a known key with a secret in a wrong place', () => {
  const at = (find: string | RegExp, instead: string) => [ORDERS.replace(find, instead), GATEWAY] as const;
  const gateway = (more: string) => [ORDERS, `${GATEWAY}${more}\n`] as const;
  it.each<[string, readonly [string, string]]>([
    ['header rules as a text', at(/$/, `headers: "X-Foo: ${CANARY}"\n`)],
    ['a store with a misspelt scheme', gateway(`store: rediss//u:${CANARY}@h`)],
    [
      'a mail server without a scheme',
      gateway(`notify: { email: { smtp: "u:${CANARY}@h", from: a@example.com } }`),
    ],
    [
      'a client as a text',
      gateway(`identity: { opaque: { introspection: https://a.example.com/i, client: "a:${CANARY}" } }`),
    ],
    [
      'a client as a list',
      gateway(`identity: { opaque: { introspection: https://a.example.com/i, client: [${CANARY}] } }`),
    ],
    ['a target with a query', at('[http://127.0.0.1:4001]', `["http://127.0.0.1:4001/x?key=${CANARY}"]`)],
    ['a target with a login', at('[http://127.0.0.1:4001]', `["http://u:${CANARY}@127.0.0.1:4001"]`)],
  ])('%s is not quoted', async (_what, [policy, text]) => {
    const all = await said(policy, text.replace(/^identity: .*\n(?=[\s\S]*^identity:)/m, ''));
    expect(all).toMatch(/error/);
    // The last line is the internal form of problems, which is never printed.
    expect(all.split('\n').slice(0, -1).join('\n')).not.toContain(CANARY);
  });
});
