// No spelling of a path reaches an operation, API or version that refuses the plain path (VER-7, ORD-2).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import { readTarget } from '../../gateway/exchange/request-view.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { planOf } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';
import { FUZZ_TIMEOUT_MS, samples } from '../support/fuzz.ts';
import { type ModelRoute, SERVICE_MODELS, type ServiceModel } from '../support/path-models.ts';
import { quietPorts, tokensAreConsumers } from '../support/quiet-ports.ts';

const NOW = Date.UTC(2026, 10, 20);
const POLICIES = 40;
const SPELLINGS = 40;
const LITERALS = [
  'items',
  'admin',
  'export',
  'kill',
  'secure',
  'Mixed',
  'users:purge',
  '$metadata',
  '@me',
  'a.b',
];
const RULES = [
  '{ access: public }',
  '{ access: { scopes: [s:admin] } }',
  '{ sunset: 2026-01-01 }',
  '{ access: public, limits: { rate: 5/1m } }',
] as const;

interface DrawnPolicy {
  readonly operations: readonly { readonly path: readonly string[]; readonly rule: string }[];
  readonly isOpen: boolean;
  readonly nested: 'none' | 'protected' | 'open';
  /** Whether another version has its upstream path inside the default's. */
  readonly hasInner: boolean;
  readonly model: ServiceModel;
  readonly declared: string;
}

const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...LITERALS) },
  { weight: 1, arbitrary: fc.constant('{}') },
);
const policies: fc.Arbitrary<DrawnPolicy> = fc
  .record({
    operations: fc.uniqueArray(
      fc.record({ path: fc.array(segment, { minLength: 1, maxLength: 3 }), rule: fc.constantFrom(...RULES) }),
      { minLength: 0, maxLength: 6, selector: ({ path }) => path.join('/').toLowerCase() },
    ),
    isOpen: fc.boolean(),
    nested: fc.constantFrom('none', 'protected', 'open'),
    hasInner: fc.boolean(),
    model: fc.constantFrom(...SERVICE_MODELS),
    pick: fc.nat(),
  })
  .map(({ pick, ...drawn }) => ({
    ...drawn,
    declared: drawn.model.declared[pick % drawn.model.declared.length] ?? '',
  }));

type Change = (path: string, at: number) => string;
/** Each changes a path at one position. The result may be refused before judgement. */
const CHANGES: readonly Change[] = [
  (path, at) => put(path, at, 1, flipped(path.charAt(at))),
  (path, at) => put(path, at, 1, encoded(path.charAt(at))),
  (path, at) => afterSegment(path, at, ';x=1'),
  (path, at) => afterSegment(path, at, ';'),
  (path, at) => afterSegment(path, at, '%3Bx'),
  (path, at) => afterSegment(path, at, '%20'),
  (path, at) => afterSegment(path, at, '/'),
  (path, at) => afterSegment(path, at, '%2F'),
  (path, at) => afterSegment(path, at, '/;x'),
  (path, at) => put(path, nextSlash(path, at), 1, '%2F'),
  (path, at) => put(path, nextSlash(path, at), 1, '/%2F'),
  (path, at) => put(path, nextSlash(path, at), 1, '%2F%2F'),
  (path) => `${path}/`,
  (path) => `${path}%2F`,
  (path) => `${path}.json`,
  (path) => `${path}.`,
  (path) => `${path}/.json`,
  (path) => `${path}%3Fx`,
  (path) => `${path}%23x/y`,
  (path, at) => put(path, at, 1, encoded(path.charAt(at)).replace('%', '%25')),
  (path, at) => put(path, at, 1, encoded(path.charAt(at)).replace('%', '%2525')),
  (path, at) => put(path, nextSlash(path, at), 1, '%252F'),
  // Two changes: an end of the path for some parsers, and before it a character that a proxy decodes.
  (path, at) =>
    put(path, at, 1, encoded(path.charAt(at)).replace('%', '%25')).replace(/7|x(?=\/|$)/, '%23$&'),
  (path, at) => `${put(path, at, 1, encoded(path.charAt(at)).replace('%', '%25'))}/%A0`,
  (path, at) => afterSegment(path, at, '%23'),
  (path) => `${path}%252Ejson`,
  (path) => `${path}%253Fx`,
  (path) => `${path}%A0x`,
  (path) => `${path}%85`,
  (path) => `${path}%20x/y`,
  (path) => `${path}/x/..%20`,
  (path) => `${path}.tar.gz`,
  (path) => `${path};/more`,
  (path) => path.toUpperCase(),
  (path) => path.replaceAll('k', '%E2%84%AA').replaceAll('s', '%C5%BF'),
  (path) => path.replace(/\/[^/]*$/, '/'),
];
const changes = fc.array(fc.record({ which: fc.nat(CHANGES.length - 1), at: fc.nat(40) }), {
  minLength: 1,
  maxLength: 3,
});

/** One rule of each kind, a literal beside a parameter, characters that may be encoded, and a nested base. */
const FIXED = [
  { path: ['items', '{}'], rule: '{ access: public }' },
  { path: ['items', '{}', 'kill'], rule: '{ access: { scopes: [s:admin] } }' },
  { path: ['admin', '{}'], rule: '{ access: { scopes: [s:admin] } }' },
  { path: ['export'], rule: '{ sunset: 2026-01-01 }' },
  { path: ['users:purge'], rule: '{ access: { scopes: [s:admin] } }' },
  { path: ['reports', '$all'], rule: '{ access: public }' },
  { path: ['reports', '{}'], rule: '{ sunset: 2026-01-01 }' },
] as const;

describe('with models of real services', () => {
  it.each(
    SERVICE_MODELS.flatMap((model) =>
      model.declared.map((declared) => ({ model, declared, named: `${model.name}, ${declared || 'none'}` })),
    ),
  )('$named: no change at any position reaches a route that refuses the plain path', async (each) => {
    const subject = await subjectOf({
      ...each,
      operations: FIXED,
      isOpen: true,
      hasInner: false,
      nested: 'protected',
    });
    const paths = subject.routes.flatMap(({ path }) =>
      CHANGES.flatMap((change) => [...path].map((_, at) => change(path, at))),
    );
    const found = await Promise.all([...new Set(paths)].map((path) => leakOf(subject, each.model, path)));
    expect(found.filter((leak) => leak !== undefined)).toEqual([]);
  });

  it(
    'no random spelling reaches a route that refuses the plain path',
    async () => {
      const { seed, drawn } = samples(policies, POLICIES);
      let judged = 0;
      let forwarded = 0;
      for (const policy of drawn) {
        const subject = await subjectOf(policy);
        const spellings = fc.sample(fc.record({ route: fc.nat(), changes }), {
          numRuns: SPELLINGS,
          seed: seed + judged,
        });
        for (const { route, changes: applied } of spellings) {
          const plain = subject.routes[route % subject.routes.length];
          if (plain === undefined) continue;
          judged += 1;
          const path = applied.reduce(
            (text, { which, at }) => CHANGES[which]?.(text, at % text.length) ?? text,
            plain.path,
          );
          if ((await subject.forwarded(`/api/mono${path}`)) === undefined) continue;
          forwarded += 1;
          const where = `${policy.model.name} with paths: ${policy.declared || 'none'}`;
          const leak = await leakOf(subject, policy.model, path);
          expect.soft(leak, `seed ${seed}: ${where}: ${leak} of\n${subject.text}`).toBeUndefined();
        }
      }
      expect(judged).toBeGreaterThanOrEqual(POLICIES * SPELLINGS);
      // A gateway that refuses everything would pass as well.
      expect(forwarded).toBeGreaterThan(judged / 10);
    },
    FUZZ_TIMEOUT_MS,
  );
});

it.each(['', 'paths: nginx\n', 'paths: strict\n', 'paths: express\n'])(
  'VER-9: with %j an encoded ? or # is forwarded only if the setting is `paths: express`',
  async (paths) => {
    const plan = await planOf(`api: mono
base: /api/mono
${paths}access: public
upstreams: { v1: { targets: [http://127.0.0.1:4001], version_as: { query: v } } }
versions: { v1: { released: 2024-06-01 } }
resolve: [ { default: v1 } ]
`);
    const forwarded = forwarderOf(plan);
    const found = ['%3Fv=v2&', '%23', '%253Fv=v2&', '%2523'].map((each) => forwarded(`/api/mono/x${each}`));
    const isSure = paths.includes('express');
    expect((await Promise.all(found)).map((each) => each !== undefined)).toEqual(found.map(() => isSure));
  },
);

interface PlainRoute extends ModelRoute {
  readonly path: string;
  /** It belongs to another version than the default. */
  readonly isInner: boolean;
}

interface Subject {
  readonly text: string;
  /** The routes of the service, the most specific first. */
  readonly routes: readonly PlainRoute[];
  /** The path sent upstream for a caller without admin scopes. Undefined if it is refused. */
  readonly forwarded: (path: string) => Promise<string | undefined>;
}

/** The route that a spelling reaches although its plain path is refused. */
async function leakOf(subject: Subject, model: ServiceModel, path: string): Promise<string | undefined> {
  const target = await subject.forwarded(`/api/mono${path}`);
  const reached = target && model.reached(subject.routes, target.slice('/mono'.length));
  if (!reached) return undefined;
  const isRefused = reached.isInner || (await subject.forwarded(`/api/mono${reached.path}`)) === undefined;
  return isRefused ? `${path} reaches ${reached.path}` : undefined;
}

async function subjectOf({
  operations: drawn,
  isOpen,
  nested,
  hasInner,
  declared,
}: DrawnPolicy): Promise<Subject> {
  const taken = [...(nested === 'none' ? [] : ['secure']), ...(hasInner ? ['kill'] : [])];
  const operations = drawn.filter(({ path }) => !taken.includes(path[0] ?? ''));
  const paths = declared === '' ? '' : `paths: ${declared}\n`;
  const rows = operations.map(({ path, rule }) => {
    const named = path.map((text, index) => (text === '{}' ? `{p${index}}` : text));
    const allowed = isOpen && rule.includes('s:admin') ? '{ sunset: 2026-01-01 }' : rule;
    return `      "GET /${named.join('/')}": ${allowed}\n`;
  });
  const access = isOpen ? 'public' : '{ identity: main, scopes: { read: [s:whole] } }';
  const text = `api: mono
base: /api/mono
${paths}access: ${access}
upstreams:
  v1: { targets: [http://127.0.0.1:4001], path: /mono }
${hasInner ? '  v2: { targets: [http://127.0.0.1:4001], path: /mono/kill }\n' : ''}versions:
${hasInner ? '  v2: { released: 2024-06-01 }\n' : ''}  v1:
    released: 2024-06-01
    deprecated: 2025-01-01
${rows.length === 0 ? '' : '    operations:\n'}${rows.join('')}resolve: [ { default: v1 } ]
`;
  const files: string[] = [text];
  if (nested !== 'none')
    files.push(`api: nested
base: /api/mono/secure
${paths}access: ${nested === 'open' ? 'public' : '{ identity: main, scopes: { read: [s:admin] } }'}
upstreams: { nested: { targets: [http://127.0.0.1:4001], path: /mono/secure } }
versions: none
`);
  const forwarded = forwarderOf(await planOf(...files));
  const templates = operations.map(({ path }) => path);
  const own = [...templates, ['extra'], ['{}', 'extra']];
  // All paths below its base belong to the nested part, as in a mounted application.
  const below = taken.flatMap((each) => [[each], [each, '{}'], [each, '{}', '{}'], [each, '{}', '{}', '{}']]);
  const all = [...own, ...below];
  const routes = [...new Map(all.map((path) => [path.join('/'), path])).values()]
    .map(
      (segments): PlainRoute => ({
        segments,
        path: `/${segments.map((each) => (each === '{}' ? '7' : each)).join('/')}`,
        isInner: hasInner && segments[0] === 'kill',
      }),
    )
    .sort((a, b) => particularity(b.segments).localeCompare(particularity(a.segments)));
  return { text: files.join('---\n'), routes, forwarded };
}

/** A literal wins over a parameter, and the earlier segment decides. */
function particularity(segments: readonly string[]): string {
  return segments.map((each) => (each === '{}' ? '0' : '1')).join('');
}

function forwarderOf(plan: GatewayPlan): Subject['forwarded'] {
  const quiet = quietPorts(
    () => plan,
    () => NOW,
  );
  const exchange = createExchange({ ...quiet, authenticators: tokensAreConsumers(['s:read']) });
  return (path) => forwardedBy(exchange, path);
}

async function forwardedBy(exchange: Exchange, path: string): Promise<string | undefined> {
  const target = readTarget(path, 'GET');
  if (target.kind !== 'resource') return undefined;
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const headers = { authorization: 'Bearer acme' };
  const directive = await exchange.decide(view({ path: target.path, headers }), facts);
  return directive.kind === 'forward' ? directive.forward.target : undefined;
}

function put(text: string, at: number, length: number, instead: string): string {
  return at < 0 ? text : text.slice(0, at) + instead + text.slice(at + length);
}

function afterSegment(path: string, at: number, what: string): string {
  const end = nextSlash(path, at + 1);
  return end < 0 ? path + what : put(path, end, 0, what);
}

function nextSlash(path: string, at: number): number {
  return path.indexOf('/', at === 0 ? 1 : at);
}

function flipped(letter: string): string {
  return letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
}

function encoded(character: string): string {
  const code = character.charCodeAt(0);
  return character === '/' || Number.isNaN(code)
    ? character
    : `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}
