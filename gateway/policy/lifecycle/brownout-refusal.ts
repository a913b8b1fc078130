// Who meets a brownout, and what they are told.
import { hash } from 'node:crypto';
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import type { BrownoutWindow } from './brownout-rule.ts';
import { type Exception, leaveFrom, someoneMayPass } from './exceptions.ts';
import type { Successor } from './retirement.ts';
import type { LifecycleRefusal, Schedule } from './schedule.ts';

/** The version or operation that pauses. */
export interface BrownoutSubject {
  readonly api: string;
  readonly label: Label;
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly exceptions: readonly Exception[];
}

export interface BrownoutCaller {
  /** Undefined where the access is public; such callers are told apart by address. */
  readonly consumer: { readonly id: string } | undefined;
  readonly clientAddress: string;
}

/** Whether the answer has to wait until it is known who calls (ORD-3). */
export function looksAtCaller(window: BrownoutWindow, subject: BrownoutSubject, now: EpochMs): boolean {
  return window.share !== undefined || someoneMayPass('brownouts', subject.exceptions, now);
}

/**
 * Whether this caller is among those a window is for. One caller gets the same answer all through a window, so that a
 * client sees an outage and not noise, and another draw in the next. Who meets a share also meets every larger one.
 */
export function meetsBrownout(
  window: BrownoutWindow,
  { api, label, exceptions }: BrownoutSubject,
  now: EpochMs,
  { consumer, clientAddress }: BrownoutCaller,
): boolean {
  if (leaveFrom('brownouts', exceptions, consumer, now) !== undefined) return false;
  if (window.share === undefined) return true;
  const who = consumer === undefined ? `address:${clientAddress}` : `consumer:${consumer.id}`;
  const digest = hash('sha256', `${api}:${label}:${window.from}:${who}`, 'buffer');
  return digest.readUIntBE(0, 6) / 2 ** 48 < window.share;
}

/**
 * The answer inside a window: what retirement will be like, except that waiting helps once more.
 * `next`: where the successor is.
 */
export function brownOut(
  { label, operation, schedule }: BrownoutSubject,
  window: BrownoutWindow,
  now: EpochMs,
  next: Successor,
): LifecycleRefusal {
  return {
    reason: 'brownout',
    status: window.status,
    label,
    operation,
    until: window.until,
    // Rounded up, so that a client who obeys finds the window over.
    retryAfterSeconds: Math.max(1, Math.ceil((window.until - now) / 1000)),
    sunset: schedule.sunset,
    message: window.message,
    ...next,
    guide: schedule.guide,
  };
}
