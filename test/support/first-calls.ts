// Calls without a version to an API whose accounts are pinned at their first call, over any store of pins.
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { ApiPlan, VersionRules } from '../../gateway/plan/plan.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { createPhases } from '../../gateway/policy/lifecycle/phases.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';
import type { Quota } from '../../gateway/policy/rate-limit/limit.ts';
import type { PinStore } from '../../gateway/policy/versioning/pin.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import { ACCESS, api, LIMIT, LIMITS, NOW, plan, RULE, upstream, version, view } from './exchange-samples.ts';
import { PLENTY, quietPorts } from './quiet-ports.ts';

const LABELS = ['v1', 'v2'] as const;
type Changes = Partial<VersionRules> & { readonly dates?: Partial<Schedule> };

export interface UnnamedCall {
  readonly pins: PinStore;
  /** Called for each use of a port other than the pins. */
  readonly onAsked: (what: 'guard' | 'verify' | 'take') => unknown;
  readonly method?: string | undefined;
  readonly account?: string;
  readonly now?: number;
  readonly mode?: ApiPlan['mode'];
  /** Changes of one version or both; v2 is released a millisecond before `NOW`. */
  readonly rules?: Partial<Record<(typeof LABELS)[number], Changes>> | undefined;
  readonly allowed?: boolean | undefined;
}

export interface Called {
  /** The reason of the refusal, or the version and how it was selected. */
  readonly end: string;
  readonly facts: ExchangeFacts;
}

function served(label: string, { dates, ...changes }: Changes = {}): VersionRules {
  const { schedule: old } = version();
  const open = { deprecated: undefined, sunset: undefined, successor: undefined };
  const released = label === 'v1' ? old.released : NOW - 1;
  const schedule = { ...old, ...open, released, ...dates };
  const phases = createPhases(schedule, { label, form: 'true', warning: false });
  return version({ label, schedule, phases, upstream, limits: LIMITS, access: ACCESS, ...changes });
}

export async function callUnnamed(call: UnnamedCall): Promise<Called> {
  const { pins, onAsked, method = 'GET', account = 'acme', now = NOW, allowed = true } = call;
  const resolution = createResolutionRules({
    labels: LABELS.toReversed(),
    header: 'api-version',
    default: undefined,
    pin: { account: undefined, created: undefined, match: 'floor' },
  });
  const versions = LABELS.map((label) => served(label, call.rules?.[label]));
  const owner = { ...api(versions), resolution, access: ACCESS, mode: call.mode ?? 'enforce' };
  const current = { ...plan([owner]), guard: LIMIT };
  const quota: Quota = {
    kind: 'counted',
    limit: LIMIT,
    rule: RULE,
    allowed,
    remaining: 0,
    retryAfterMs: 1,
    resetMs: 1,
  };
  const consumer = {
    id: account,
    mayLabelMetrics: true,
    via: 'token' as const,
    scopes: new Set(['orders:read']),
    claims: {},
  };
  const exchange = createExchange({
    ...quietPorts(
      () => current,
      () => now,
    ),
    guard: () => {
      onAsked('guard');
      return PLENTY;
    },
    limiter: {
      take: () => {
        onAsked('take');
        return [quota];
      },
    },
    pins,
    authenticators: new Map([
      [
        'main',
        tokenAuthenticator(() => NOW, {
          claims: () => true,
          verify: () => {
            onAsked('verify');
            return { kind: 'consumer', consumer };
          },
        }),
      ],
    ]),
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const request = view({ method, path: '/api/orders', headers: { authorization: 'Bearer a.b.c' } });
  const directive = await exchange.decide(request, facts);
  const end =
    directive.kind === 'refuse'
      ? directive.refusal.reason
      : `${facts.decision.version?.label} by ${facts.decision.carrier}`;
  return { end, facts };
}
