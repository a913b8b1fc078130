// A policy with operations, exceptions and sunsets, and a request judged by it at any instant.
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Quota, Take } from '../../gateway/policy/rate-limit/limit.ts';
import { planOf } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';
import { quietPorts, tokensAreConsumers } from '../support/quiet-ports.ts';

export const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { media_type: "application/vnd.acme.{version}+json" } ]
access: { identity: main, scopes: { read: [orders:read] } }
limits: { rate: 600/1m, deprecated: 50% }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v0: { released: 2023-01-01, deprecated: 2024-06-01, sunset: 2026-01-01, after: { redirect: v2 } }
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    retired: 2027-07-15
    successor: v2
    exceptions:
      - { consumer: acme, until: 2027-06-30, from: [sunset], why: contract 4711, by: api-team }
      - { consumer: acme, until: 2026-12-01, from: [limits], why: year end, by: api-team }
    operations:
      GET /old/{id}: { deprecated: 2025-06-01, sunset: 2026-06-01, successor: "v2 GET /{id}", after: redirect }
      GET /other: { access: { scopes: [orders:other] }, guide: https://docs.example.com/other }
      GET /heavy: { limits: { rate: 60/1m } }
      POST /open: { access: public }
  v2:
    released: 2025-01-01
    operations:
      GET /gone: { deprecated: 2025-02-01, sunset: 2026-03-01, after: redirect, successor: GET / }
`;

const ENFORCED = await planOf(POLICY);
export const OBSERVED = await planOf(`mode: observe\n${POLICY}`);

export interface Situation {
  readonly plan?: GatewayPlan;
  readonly at: string;
  readonly path?: string;
  readonly method?: string;
  /** Undefined: no token. */
  readonly consumer?: string;
  readonly accept?: string;
  readonly allowed?: boolean;
  readonly storeAway?: boolean;
}

interface Judged {
  readonly outcome: string;
  readonly location: string | undefined;
  readonly facts: ExchangeFacts;
  readonly taken: Take | undefined;
}

export async function judge(situation: Situation): Promise<Judged> {
  const {
    at,
    path = '/api/v1/orders/7',
    method = 'GET',
    consumer,
    allowed = true,
    storeAway = false,
  } = situation;
  const now = Temporal.Instant.from(at.includes('T') ? at : `${at}T00:00:00Z`).epochMilliseconds;
  let taken: Take | undefined;
  const exchange = createExchange({
    ...quietPorts(
      () => situation.plan ?? ENFORCED,
      () => now,
    ),
    limiter: {
      take: (parts) =>
        parts.map((part): Quota => {
          const { limit, rule } = part;
          taken = part;
          if (storeAway) return { kind: 'unavailable', limit, rule };
          return { kind: 'counted', limit, rule, allowed, remaining: 0, retryAfterMs: 400, resetMs: 400 };
        }),
    },
    authenticators: tokensAreConsumers(['orders:read']),
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const headers = {
    ...(consumer !== undefined && { authorization: `Bearer ${consumer}` }),
    ...(situation.accept !== undefined && { accept: situation.accept }),
  };
  const directive = await exchange.decide(view({ path, method, headers }), facts);
  const refusal = directive.kind === 'refuse' ? directive.refusal : undefined;
  return {
    outcome: refusal?.reason ?? directive.kind,
    location: refusal?.reason === 'version_moved' ? refusal.location : undefined,
    facts,
    taken,
  };
}
