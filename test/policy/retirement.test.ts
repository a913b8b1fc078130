// The response after the sunset: 410 or a redirect, by method, with date and reason.
import { describe, expect, it } from 'vitest';
import { hasEnded, refuseEnded } from '../../gateway/policy/lifecycle/retirement.ts';
import type { Schedule, Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import { day, phase, schedule } from './dated-versions.ts';

describe('after sunset', () => {
  const input = {
    label: 'v1',
    operation: undefined,
    schedule,
    phase: phase({}, 'retired'),
    method: 'GET',
    next: { replacement: 'https://api.example.com/api/v2/users/7', successor: undefined },
    redirect: 'https://api.example.com/api/v2/users/7?x=1',
  };
  const gone = {
    reason: 'version_retired',
    label: 'v1',
    operation: undefined,
    stage: 'retired',
    since: schedule.retired,
    ...input.next,
    guide: schedule.guide,
    because: undefined,
  };
  const moving = (unsafe: 301 | 308 | 410): Schedule => ({
    ...schedule,
    after: { kind: 'redirect', to: 'v2', unsafe },
  });

  it.each<[Stage, boolean]>([
    ['planned', false],
    ['active', false],
    ['deprecated', false],
    ['sunset', true],
    ['retired', true],
  ])('RET-11: whether a %s version has ended: %s', (stage, ended) => {
    expect(hasEnded(phase({}, stage))).toBe(ended);
  });

  it('RET-1, RET-11: responds 410 with the start of its stage', () => {
    expect(refuseEnded(input)).toEqual(gone);
    expect(refuseEnded({ ...input, phase: phase({}, 'sunset') })).toEqual({
      ...gone,
      stage: 'sunset',
      since: schedule.sunset,
    });
    const end = { retired: undefined };
    const ended = { ...input, schedule: { ...schedule, ...end }, phase: phase(end, 'retired') };
    expect(refuseEnded(ended)).toEqual({ ...gone, since: schedule.sunset });
  });

  it.each<[string, 301 | 308 | 410, 301 | 308 | undefined]>([
    ['GET', 308, 301],
    ['HEAD', 308, 301],
    ['POST', 308, 308],
    ['DELETE', 308, 308],
    ['OPTIONS', 308, 308],
    ['POST', 301, 301],
    ['GET', 410, 301],
    ['POST', 410, undefined],
  ])('RET-1, RET-9: %s with unsafe %i gives %s', (method, unsafe, status) => {
    const refusal = refuseEnded({ ...input, method, schedule: moving(unsafe) });
    const moved = {
      reason: 'version_moved',
      status,
      label: 'v1',
      operation: undefined,
      stage: 'retired',
      since: schedule.retired,
      location: input.redirect,
      guide: schedule.guide,
    };
    expect(refusal).toEqual(status === undefined ? gone : moved);
  });

  it('RET-8: the 410 contains the reason of the policy file', () => {
    const because = 'money amounts become integers';
    expect(refuseEnded({ ...input, schedule: { ...schedule, reason: because } })).toEqual({
      ...gone,
      because,
    });
  });

  it('RET-5: a redirect back to the request becomes a 410', () => {
    expect(refuseEnded({ ...input, schedule: moving(308), redirect: undefined })).toEqual(gone);
  });

  it('a version retired without a sunset date is gone since its phase began', () => {
    const dates = { sunset: undefined, retired: day('2026-12-01') };
    expect(
      refuseEnded({ ...input, schedule: { ...schedule, ...dates }, phase: phase(dates, 'retired') }),
    ).toEqual({ ...gone, since: dates.retired });
  });
});
