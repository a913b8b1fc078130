// When an open WebSocket ends, by the current plan and clock.

import { describe, expect, it } from 'vitest';
import { expiryCauseOf, isOver, tunnelServiceOf } from '../../gateway/exchange/tunnel-service.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { NO_MATCHES } from '../../gateway/plan/routes/nodes-by-name.ts';
import { phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import { api, deprecatedFacts, NOW, plan, upstream, version } from '../support/exchange-samples.ts';

const SUNSET = Date.UTC(2027, 3, 15);
const served = version({ upstream });
const facts = deprecatedFacts().decision;
const held = tunnelServiceOf(facts);

const over = (of: GatewayPlan, now: number): boolean => isOver(held, of, { now, overrides: [] });

/** Rules of `GET /search`, which ends before the version. */
const search = version({
  upstream,
  operation: 'GET /search',
  phases: served.phasesOf({ ...served.schedule, sunset: NOW }),
});
const withSearch = version({
  upstream,
  operations: { list: [search], match: () => undefined, reached: () => NO_MATCHES },
});

describe('WS-6: an open WebSocket', () => {
  it('holds the label of its version, and no plan', () => {
    expect(held).toEqual({
      api: 'orders',
      version: 'v1',
      operations: [undefined],
      consumer: facts.consumer && { id: facts.consumer.id },
      tokenEnd: undefined,
    });
  });

  it.each([
    ['a millisecond before the sunset', false, plan([api([served])]), SUNSET - 1],
    ['at the sunset', true, plan([api([served])]), SUNSET],
    ['at the sunset in `mode: observe`', false, plan([{ ...api([served]), mode: 'observe' }]), SUNSET],
    ['in `mode: observe` without an upstream', true, plan([{ ...api(), mode: 'observe' }]), SUNSET],
    ['when a reload has removed the version', true, plan([api([version({ label: 'v2', upstream })])]), NOW],
    ['when a reload has removed the API', true, plan([]), NOW],
    ['when only another operation has ended', false, plan([api([withSearch])]), NOW],
  ] as const)('ends %s: %s', (_when, expected, current, now) => {
    expect(over(current, now)).toBe(expected);
  });

  it('VER-7: ends with an operation that another reading of its path reached', () => {
    const others = [{ ...facts, version: search }];
    const spelled = tunnelServiceOf({ ...facts, others });
    const current = plan([api([withSearch])]);
    expect(isOver(spelled, current, { now: NOW, overrides: [] })).toBe(true);
    expect(isOver(spelled, current, { now: NOW - 1, overrides: [] })).toBe(false);
  });

  it.each([
    ['ends with its token', 'token', served, 0],
    ['stays open until its token ends', undefined, served, -1],
    ['ends with its version despite a valid token', 'version', version({ upstream, label: 'v2' }), -1],
  ] as const)('%s', (_what, expected, of, offset) => {
    const exp = NOW / 1000 + 60;
    const consumer = {
      id: 'acme',
      mayLabelMetrics: true,
      via: 'token' as const,
      scopes: new Set<string>(),
      claims: { exp },
    };
    const tied = tunnelServiceOf({ ...facts, consumer });
    // The lifecycle clock does not matter.
    const moment = { now: NOW, overrides: [] };
    expect(expiryCauseOf(tied, plan([api([of])]), moment, (exp + 30) * 1000 + offset)).toBe(expected);
    expect(expiryCauseOf(held, plan([api([of])]), moment, Number.MAX_VALUE)).toBe(
      expected === 'token' ? undefined : expected,
    );
  });

  it.each([
    [true, 'token'],
    [false, undefined],
  ] as const)('ends when its API key is revoked: %s', (isRevoked, expected) => {
    const consumer = {
      ...{ id: 'acme', mayLabelMetrics: true, via: 'key' as const, scopes: new Set<string>(), claims: {} },
      isRevoked: () => isRevoked,
    };
    const tied = tunnelServiceOf({ ...facts, consumer });
    expect(expiryCauseOf(tied, plan([api([served])]), { now: NOW, overrides: [] }, NOW)).toBe(expected);
  });

  it('ends with its operation', () => {
    const operation = tunnelServiceOf({ ...facts, version: search });
    expect(isOver(operation, plan([api([withSearch])]), { now: NOW, overrides: [] })).toBe(true);
  });

  it('stays open for an excepted consumer until the exception ends', () => {
    const until = SUNSET + 1_000;
    const leave = {
      consumer: 'acme',
      until,
      from: ['sunset'],
      why: 'contract',
      by: 'team',
      phases: [phaseAt(served.phases, NOW)],
    } as const;
    const current = plan([api([version({ upstream, exceptions: [leave] })])]);
    const of = (id: string, now: number): boolean =>
      isOver({ ...held, consumer: { id } }, current, { now, overrides: [] });
    expect([of('acme', SUNSET), of('acme', until), of('other', SUNSET)]).toEqual([false, true, true]);
  });
});
