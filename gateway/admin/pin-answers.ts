// Bodies of pins for clients and the audit trail, and refusals of moves.
import type { PinAnswer } from '../api/admin-answers.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Pin, PinKey, PinMove, PinnableVersions } from '../policy/versioning/pin.ts';
import type { Label, PinRule } from '../policy/versioning/resolution.ts';
import type { AuditState } from '../telemetry/logs/logger.ts';
import { type AdminAnswer, errorAnswer, instantText, jsonAnswer } from './answers.ts';

export interface PinFacts {
  readonly key: PinKey;
  readonly rule: PinRule;
  readonly pin: Pin | undefined;
  readonly now: EpochMs;
}

export function pinAnswer({ key, rule, pin, now }: PinFacts): AdminAnswer {
  const body: PinAnswer = {
    now: instantText(now),
    api: key.api,
    account: key.account,
    rule: { account: rule.account ?? null, created: rule.created ?? null, match: rule.match },
    pin: pin === undefined ? null : pinBody(pin, now),
  };
  return jsonAnswer(200, body);
}

function pinBody({ label, origin, since, previous }: Pin, now: EpochMs): PinAnswer['pin'] {
  const open = previous !== undefined && now < previous.until;
  return {
    version: label,
    origin,
    since: instantText(since),
    rollBack: open ? { version: previous.label ?? null, until: instantText(previous.until) } : null,
  };
}

export function pinState(pin: Pin | undefined): AuditState | undefined {
  return pin && { version: pin.label, origin: pin.origin, since: instantText(pin.since) };
}

export interface RefusedMove {
  readonly api: string;
  /** The requested version. Undefined for a roll-back. */
  readonly requested: string | undefined;
  /** The version that the account gets now, if known. */
  readonly from: Label | undefined;
  readonly current: Pin | undefined;
  readonly versions: PinnableVersions;
}

type PinRefusalReason = Extract<PinMove, { kind: 'refused' }>['reason'];

export function pinRefused(reason: PinRefusalReason, move: RefusedMove): AdminAnswer {
  const { api, requested, from, current, versions } = move;
  const served = versions.labels.filter(versions.isServed);
  const supported = { supportedVersions: served };
  const choice = served.length === 0 ? 'No version is served.' : `Served versions: ${served.join(', ')}.`;
  switch (reason) {
    case 'version_unknown':
      return errorAnswer(422, `${api} has no version ${JSON.stringify(requested)}. ${choice}`, supported);
    case 'version_ended': {
      const version = requested ?? current?.previous?.label ?? 'the version before';
      return errorAnswer(
        409,
        `${version} is not served now, so no account can move there. ${choice}`,
        supported,
      );
    }
    case 'not_newer': {
      const message = `The account is on ${from}. Name a newer version, or roll back the last upgrade.`;
      return errorAnswer(409, message, supported);
    }
    case 'nothing_to_roll_back':
      return errorAnswer(409, 'This account has no upgrade that can be rolled back.');
    case 'too_late': {
      const until = instantText(current?.previous?.until ?? 0);
      const message = `An upgrade can be rolled back for 72 hours, this one until ${until}.`;
      return errorAnswer(409, message, { until });
    }
    default:
      return reason satisfies never;
  }
}

/** Refuses a creation day where the version of an account does not depend on it. */
export function createdNotUsed(api: string): AdminAnswer {
  return errorAnswer(422, `"created": ${api} pins accounts without their creation day. Leave it out.`);
}

/** The pin changed during both attempts. */
export function contended(): AdminAnswer {
  return errorAnswer(409, 'Another request moved this pin at the same time. Read it, then retry.');
}
