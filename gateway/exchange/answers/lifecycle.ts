// Responses to lifecycle refusals: gone, moved, brownout, or frozen for new consumers.
import type { LifecycleRefusal } from '../../policy/lifecycle/schedule.ts';
import { dayOf } from '../../policy/notation.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { AnswerHeaders } from '../answer-headers.ts';
import { BRIEFLY_CACHEABLE, type ErrorDescription, NO_STORE, proxyStatus, refuse } from './error-body.ts';

type LifecycleRefusalOf<Reason extends LifecycleRefusal['reason']> = Extract<
  LifecycleRefusal,
  { reason: Reason }
>;

/** RET-6: most clients drop Authorization when a redirect leads to another host, and get 401 there. */
const OTHER_HOST_ADVICE =
  ' The redirect leads to another host, where most clients send no credentials: add them again.';

/** Each response names the next step. All facts in it are public (RET-8). `host`: of the request, without port. */
export function describeLifecycleRefusal(refusal: LifecycleRefusal, host?: string): ErrorDescription {
  switch (refusal.reason) {
    case 'version_retired':
      return ended(refusal, 410, refusal);
    case 'version_moved': {
      const { status, location, guide } = refusal;
      const moved = ended(refusal, status, { replacement: location, guide }, location);
      const stays = host === undefined || new URL(location).hostname === host;
      return stays ? moved : { ...moved, message: moved.message + OTHER_HOST_ADVICE };
    }
    case 'brownout':
      return brownedOut(refusal);
    case 'adoption_frozen':
      return frozen(refusal);
    default:
      return refusal satisfies never;
  }
}

type Ended = LifecycleRefusalOf<'version_retired'> | LifecycleRefusalOf<'version_moved'>;

/** 410, 301 and 308 are cacheable for one minute, so that an end can be revoked (RET-7). */
function ended(refusal: Ended, status: 301 | 308 | 410, next: NextStep, location?: string): ErrorDescription {
  return {
    status,
    message: `${subjectText(refusal)} ${endText(refusal)}.${successorText(next)}`,
    members: {
      ...migrationMembers(next),
      ...(next.because === undefined ? {} : { reason: next.because }),
    },
    headers: {
      ...MADE_BY_GATEWAY,
      'cache-control': BRIEFLY_CACHEABLE,
      ...(location === undefined ? {} : { location }),
    },
  };
}

function endText({ stage, since }: Ended): string {
  return `${stage === 'sunset' ? 'reached its sunset' : 'was retired'} on ${dayOf(since)}`;
}

/** Never stored, because the brownout ends soon (RET-7). */
function brownedOut(refusal: LifecycleRefusalOf<'brownout'>): ErrorDescription {
  const { status, until, sunset, retryAfterSeconds } = refusal;
  const restored = Temporal.Instant.fromEpochMilliseconds(until).toString();
  const removal = sunset === undefined ? '' : `, and will be removed on ${dayOf(sunset)}`;
  const ours = `${subjectText(refusal)} is in an announced brownout until ${restored}${removal}.`;
  return {
    status,
    message: refusal.message ?? ours + successorText(refusal),
    members: { retryAfter: retryAfterSeconds, estimatedRestoration: restored, ...migrationMembers(refusal) },
    headers: { ...MADE_BY_GATEWAY, 'cache-control': NO_STORE, 'retry-after': String(retryAfterSeconds) },
  };
}

/** Applies to one consumer, so no cache may store it. */
function frozen(refusal: LifecycleRefusalOf<'adoption_frozen'>): ErrorDescription {
  const since = `${subjectText(refusal)} has accepted no new consumers since ${dayOf(refusal.since)}.`;
  const message = since + successorText(refusal);
  return refuse(403, message, migrationMembers(refusal), {}, 'http_request_denied');
}

const MADE_BY_GATEWAY: AnswerHeaders = { 'proxy-status': proxyStatus('proxy_internal_response') };

interface NextStep {
  readonly replacement: string | undefined;
  readonly successor?: Label | undefined;
  readonly guide: string | undefined;
  readonly because?: string | undefined;
}

/** Without a URL, the successor version. */
export function migrationMembers({ replacement, successor, guide }: NextStep): Record<string, string> {
  return {
    ...(replacement === undefined ? {} : { replacement }),
    ...(successor === undefined ? {} : { successor }),
    ...(guide === undefined ? {} : { migration_guide: guide }),
  };
}

function successorText({ successor }: NextStep): string {
  return successor === undefined ? '' : ` Its successor is ${successor}.`;
}

function subjectText({ label, operation }: LifecycleRefusal): string {
  if (label === UNVERSIONED) return 'This API';
  return `${operation === undefined ? '' : `${operation} of `}API version ${label}`;
}
