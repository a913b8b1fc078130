// A small plan, a request and facts at a fixed instant, for tests of the exchange.

import {
  type Completion,
  type Decision,
  type ExchangeFacts,
  factsOf,
  type RequestStart,
} from '../../gateway/exchange/facts.ts';
import { RecordFields, type RequestView } from '../../gateway/exchange/request-view.ts';
import type { ApiPlan, GatewayPlan, UpstreamPlan, VersionRules } from '../../gateway/plan/plan.ts';
import { answerFieldsOf } from '../../gateway/plan/upstreams/answer-fields.ts';
import type { FieldRecord } from '../../gateway/policy/contract.ts';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import { pathRulesOf } from '../../gateway/sections/routes/compile.ts';
import { createRouteTable } from './route-table.ts';

export const NOW = Date.UTC(2026, 10, 20);

export const LIMIT = { name: 'default', units: 1, windowMs: 1000, burst: 1 };
export const ACCESS = {
  kind: 'identified',
  identities: ['main'],
  schemes: [{ scheme: 'Bearer', issuers: ['https://auth.example.com'] }],
  anonymous: false,
  vary: '',
  scopes: { read: ['orders:read'], write: ['orders:write'] },
} as const;
export const RULE = {
  active: LIMIT,
  deprecated: LIMIT,
  curve: undefined,
  buckets: { active: 'orders:v1:default', deprecated: 'orders:v1:default' },
  by: 'consumer',
  onStoreFailure: 'local',
  exact: false,
  shadow: false,
} as const;
export const LIMITS = { each: [RULE], cost: 1 } as const;

const schedule: Schedule = {
  released: Date.UTC(2024, 5, 1),
  deprecated: Date.UTC(2026, 0, 15),
  sunset: Date.UTC(2027, 3, 15),
  retired: undefined,
  forgotten: undefined,
  successor: 'v2',
  guide: 'https://docs.example.com/orders/v2',
  status: 'https://status.example.com/orders-v1',
  reason: undefined,
  after: { kind: 'gone' },
};

/** An upstream without a listener. */
export const upstream: UpstreamPlan = {
  name: 'orders-v1',
  targets: [{ origin: 'http://127.0.0.1:1' }],
  path: '/orders',
  versionHeader: 'api-version',
  versionQuery: undefined,
  identityHeaders: undefined,
  withheld: new Set(['api-version']),
  answerFields: answerFieldsOf(undefined),
  host: undefined,
  connections: { max: 256, queue: 1_024, waitMs: 1_000 },
  retries: { attempts: 1, budget: 0.2 },
  http2: false,
  tls: undefined,
  timeouts: { connect: 1, headers: 1, idle: 1, total: 1 },
  balance: 'round-robin',
  slowStart: 0,
  health: undefined,
  breaker: undefined,
};

const phasesOf = (dates: Schedule) => createPhases(dates, { label: 'v1', form: 'rfc9745', warning: true });

/** Orders v1: deprecated at `NOW`, with v2 as successor and redirect target. */
export function version(changes: Partial<VersionRules> = {}): VersionRules {
  return {
    api: 'orders',
    label: 'v1',
    operation: undefined,
    operations: undefined,
    notes: undefined,
    schedule,
    phases: phasesOf(schedule),
    phasesOf,
    exceptions: [],
    brownouts: undefined,
    freeze: undefined,
    retireWhen: undefined,
    maintenance: undefined,
    bodyNotice: false,
    maxBody: 1_000_000,
    access: { kind: 'public' },
    vary: 'API-Version',
    limits: undefined,
    idempotency: undefined,
    upstream: undefined,
    place: '/api/v1/orders',
    predecessors: [],
    successorPath: '/api/v2/orders',
    successorTail: undefined,
    redirects: [{ label: 'v2', path: '/api/v2/orders', tail: undefined }],
    ...changes,
  };
}

export function api(rules: readonly VersionRules[] = [version()]): ApiPlan {
  return {
    name: 'orders',
    mode: 'enforce',
    cors: undefined,
    base: '/api/orders',
    echo: false,
    upstreamWins: false,
    hosts: ['api.example.com'],
    paths: ['/api/{version}/orders', '/api/orders'],
    pathRules: pathRulesOf(undefined),
    hasOperations: true,
    inside: undefined,
    locations: 'map',
    resolution: createResolutionRules({
      labels: rules.map((rule) => rule.label),
      header: 'api-version',
      default: undefined,
    }),
    rewriteContentType: false,
    deprecatedMaxAge: undefined,
    hasBodyNotice: rules.some(({ bodyNotice }) => bodyNotice),
    shared: false,
    unknownVersionStatus: undefined,
    access: { kind: 'public' },
    headers: undefined,
    versions: new Map(rules.map((rule) => [rule.label, rule])),
    releases: [],
    versionFields: ['API-Version'],
    vary: 'API-Version',
    versionHeaders: ['api-version'],
    keyHeaders: [],
    contacts: new Map(),
    guides: [],
  };
}

export function plan(apis: readonly ApiPlan[] = [api()]): GatewayPlan {
  return {
    revision: '0'.repeat(64),
    public: 'https://api.example.com',
    apis,
    apiNamed: (name) => apis.find((each) => each.name === name),
    routes: createRouteTable(
      apis.flatMap((route) => route.paths.map((path) => ({ host: 'api.example.com', path, route }))),
    ),
    guard: undefined,
    credentialsInUrl: new Set(['access_token']),
  };
}

/** Parts of a request, with headers as a record. */
export type ViewParts = Omit<Partial<RequestView>, 'headers'> & { readonly headers?: FieldRecord };

export function view({ headers, ...changes }: ViewParts = {}): RequestView {
  return {
    method: 'GET',
    scheme: 'https',
    host: 'api.example.com',
    path: '/api/v1/orders/7',
    search: '',
    headers: new RecordFields(headers),
    clientAddress: '203.0.113.9',
    requestId: 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001',
    ...changes,
  };
}

/** All parts of an exchange as one flat object. */
export type FlatFacts = RequestStart & Decision & Completion;

export function withFacts(facts: ExchangeFacts, changes: Partial<FlatFacts>): ExchangeFacts {
  const part = <Part extends object>(members: Part): Part => {
    const changed = Object.entries(changes).filter(([name]) => name in members);
    return { ...members, ...Object.fromEntries(changed) };
  };
  return { start: part(facts.start), decision: part(facts.decision), completion: part(facts.completion) };
}

/** Facts of a request for orders v1 that was resolved, found deprecated and counted. */
export function deprecatedFacts(changes: Partial<FlatFacts> = {}): ExchangeFacts {
  const rules = version();
  const owner = api([rules]);
  const requestId = 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001';
  const start = { plan: plan([owner]), now: NOW, overrides: [], startedAt: 0, requestId, trace: undefined };
  return withFacts(factsOf(start), {
    api: owner,
    version: rules,
    carrier: 'path',
    phase: phaseAt(rules.phases, NOW),
    successor: { replacement: 'https://api.example.com/api/v2/orders/7', successor: undefined },
    quotas: [
      {
        kind: 'counted',
        rule: RULE,
        limit: { name: 'deprecated', units: 60, windowMs: 60_000, burst: 60 },
        allowed: true,
        remaining: 59,
        retryAfterMs: 0,
        resetMs: 1000,
      },
    ],
    ...changes,
  });
}
