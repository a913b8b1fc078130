// Merges the idempotency keys of operation, version and API into one rule.
import type { VersionRules } from '../../plan/plan.ts';
import type { IdempotencyRules } from '../../policy/idempotency/rules.ts';
import type { OperationInput, VersionInput } from '../section.ts';
import { defaultIdempotency, type WrittenIdempotency } from './grammar.ts';

type Compiled = Pick<VersionRules, 'idempotency'>;

export function idempotencyOfVersion({ file, version }: VersionInput): Compiled {
  return { idempotency: idempotencyOf([version.idempotency, file.idempotency]) };
}

export function idempotencyOfOperation({ file, version, operation, rules }: OperationInput): Compiled {
  const own = operation.idempotency;
  const nearestFirst = [own, version.idempotency, file.idempotency];
  return { idempotency: own === undefined ? rules.idempotency : idempotencyOf(nearestFirst) };
}

/** Undefined if no level has a section, or if the nearest is `off`. */
export function idempotencyOf(
  nearestFirst: readonly (WrittenIdempotency | 'off' | undefined)[],
): IdempotencyRules | undefined {
  const off = nearestFirst.indexOf('off');
  const inForce = (off < 0 ? nearestFirst : nearestFirst.slice(0, off)).filter(
    (each) => each !== undefined && each !== 'off',
  );
  if (inForce.length === 0) return undefined;
  const pick = <K extends keyof WrittenIdempotency>(key: K) =>
    [...inForce, defaultIdempotency].find((each) => each[key] !== undefined)?.[key] as NonNullable<
      WrittenIdempotency[K]
    >;
  return {
    methods: new Set(pick('methods')),
    required: pick('required'),
    keepMs: pick('keep'),
    unknown: pick('unknown'),
    serverErrors: pick('server_errors'),
    anonymous: pick('anonymous'),
    maxBody: pick('max_body'),
    maxAnswer: pick('max_answer'),
  };
}
