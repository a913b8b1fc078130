// The notice: what a deprecated version says of itself inside the JSON objects it answers with.
// Made for each request, since it names the same resource in the successor; the same facts make the same bytes.
import { hash } from 'node:crypto';
import type { EpochMs } from '../contract.ts';
import { dayOf } from '../notation.ts';

export const MEMBER_NAME = '_deprecation';

export interface NoticeFacts {
  /** The sunset this caller is told in its headers. */
  readonly sunset: EpochMs | undefined;
  /** Absolute URL of the same resource in the successor. */
  readonly replacement: string | undefined;
  /** Absolute URL. */
  readonly guide: string | undefined;
  readonly reason: string | undefined;
}

export interface Notice {
  /** Name and value as JSON text, without a comma. */
  readonly member: string;
  /** What entity tags of edited answers end with inside their quotes: another notice, another tag (BODY-5). */
  readonly suffix: string;
}

/** The member of the specification, in its order; what is not known is left out and never null. */
export function createNotice({ sunset, replacement, guide, reason }: NoticeFacts): Notice {
  const value = {
    deprecated: true,
    sunset_date: sunset === undefined ? undefined : dayOf(sunset),
    replacement,
    migration_guide: guide,
    reason,
  };
  const member = `"${MEMBER_NAME}":${JSON.stringify(value)}`;
  return { member, suffix: `~d${hash('sha256', member).slice(0, 8)}` };
}
