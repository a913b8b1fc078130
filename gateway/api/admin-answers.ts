// Responses of the admin API about pauses, pins, keys, readiness, upstreams, reloads and accepted files.
import { z } from 'zod';

const effect = z.object({
  version: z.string(),
  operation: z.string().nullable(),
  effect: z.string(),
  brownouts: z.number(),
  /** For people, without a full stop. */
  summary: z.string(),
});

const pause = z.object({
  id: z.string(),
  kind: z.enum(['pause', 'hold']),
  api: z.string(),
  /** Null: every version. */
  version: z.string().nullable(),
  /** Instants are RFC 3339 in UTC, here and below. */
  from: z.string(),
  until: z.string(),
  by: z.string(),
  why: z.string(),
  effects: z.array(effect),
  /** For a hold: whether the guard may renew it after its end. Absent from older gateways. */
  renewable: z.boolean().exactOptional(),
});

/** The lifecycle clock of the gateway. */
const now = z.string();
const pausesAnswer = z.object({ now, overrides: z.array(pause) });
const pauseAnswer = z.object({ now, pause });
const endedAnswer = z.object({ now, ended: pause });

const pinAnswer = z.object({
  now,
  api: z.string(),
  account: z.string(),
  /** The claims that give the version of an account without a stored pin. */
  rule: z.object({ account: z.string().nullable(), created: z.string().nullable(), match: z.string() }),
  pin: z
    .object({
      version: z.string(),
      origin: z.enum(['first_call', 'upgrade', 'roll_back']),
      since: z.string(),
      /** Null if no upgrade can be rolled back. Its version is null if no pin was stored before. */
      rollBack: z.object({ version: z.string().nullable(), until: z.string() }).nullable(),
    })
    .nullable(),
});

const key = z.object({
  id: z.string(),
  consumer: z.string(),
  scopes: z.array(z.string()).readonly(),
  contact: z.string().nullable(),
  state: z.enum(['active', 'expired', 'revoked']),
  created: z.string(),
  expires: z.string().nullable(),
  rotated: z.string().nullable(),
  /** Until when the secret before the last rotation is valid. */
  overlap: z.string().nullable(),
  revoked: z.string().nullable(),
});
const keysAnswer = z.object({ now, keys: z.array(key) });
const keyAnswer = z.object({ now, key });
/**
 * `secret`: the whole key, which no other response contains. `takenBy`: the APIs that accept keys. `unknownScopes`: the
 * key's scopes that no policy names. The last two are absent from older gateways.
 */
const newKeyAnswer = z.object({
  now,
  key,
  secret: z.string(),
  takenBy: z.array(z.string()).exactOptional(),
  unknownScopes: z.array(z.string()).exactOptional(),
});

const backupAnswer = z.object({ file: z.string(), bytes: z.number() });

/** `configured`: of the gateway file; it holds again after a restart. */
const logLevelAnswer = z.object({ level: z.string(), configured: z.string() });

const readiness = z.object({
  status: z.string(),
  store: z.object({ kind: z.string(), state: z.string() }),
  plan: z.string().nullable(),
  /** A warning about its policies although it is ready. Absent from older gateways. */
  detail: z.string().exactOptional(),
});

const upstreams = z.object({
  upstreams: z.array(
    z.object({
      upstream: z.string(),
      targets: z.array(
        z.object({
          target: z.string(),
          /** Absent from older gateways. */
          failing: z
            .object({ since: z.string().nullable(), share: z.number(), error: z.string().nullable() })
            .nullable()
            .exactOptional(),
        }),
      ),
    }),
  ),
});

const problem = z.object({
  file: z.string(),
  line: z.number(),
  column: z.number(),
  severity: z.enum(['error', 'warning']),
  rule: z.string(),
  message: z.string(),
  hint: z.string().exactOptional(),
});
const preview = z.object({ problems: z.array(problem) });

const refusedFile = z.object({ api: z.string(), file: z.string() });

const reload = z.object({
  outcome: z.enum(['accepted', 'unchanged', 'rejected', 'failed']),
  revision: z.string(),
  /** Since when that revision is in force. Absent from older gateways. */
  since: z.string().exactOptional(),
  restartNeeded: z.boolean(),
  /** APIs that are served in their last accepted form. Absent from older gateways. */
  quarantined: z.array(refusedFile).exactOptional(),
  /** APIs that are not served at all. Absent from older gateways. */
  leftOut: z.array(refusedFile).exactOptional(),
  problems: z.array(problem),
});

const acceptedAnswer = reload.extend({
  api: z.string(),
  accepted: z.array(z.object({ label: z.string(), to: z.string() })),
});

export type PauseBody = z.output<typeof pause>;
export type PausesAnswer = z.output<typeof pausesAnswer>;
export type PauseAnswer = z.output<typeof pauseAnswer>;
export type EndedAnswer = z.output<typeof endedAnswer>;
export type PinAnswer = z.output<typeof pinAnswer>;
export type KeyBody = z.output<typeof key>;
export type KeysAnswer = z.output<typeof keysAnswer>;
export type KeyAnswer = z.output<typeof keyAnswer>;
export type NewKeyAnswer = z.output<typeof newKeyAnswer>;
export type ReadinessAnswer = z.output<typeof readiness>;
export type ReloadAnswer = z.output<typeof reload>;
export type AcceptedAnswer = z.output<typeof acceptedAnswer>;

/** Each returns undefined for a body of another shape. */
export const readPausesAnswer = (body: unknown) => pausesAnswer.safeParse(body).data;
export const readPauseAnswer = (body: unknown) => pauseAnswer.safeParse(body).data;
export const readEndedAnswer = (body: unknown) => endedAnswer.safeParse(body).data;
export const readPinAnswer = (body: unknown) => pinAnswer.safeParse(body).data;
export const readKeysAnswer = (body: unknown) => keysAnswer.safeParse(body).data;
export const readKeyAnswer = (body: unknown) => keyAnswer.safeParse(body).data;
export const readNewKeyAnswer = (body: unknown) => newKeyAnswer.safeParse(body).data;
export const readBackupAnswer = (body: unknown) => backupAnswer.safeParse(body).data;
export const readLogLevelAnswer = (body: unknown) => logLevelAnswer.safeParse(body).data;
export const readReadiness = (body: unknown) => readiness.safeParse(body).data;
export const readUpstreams = (body: unknown) => upstreams.safeParse(body).data;
export const readReloadAnswer = (body: unknown) => reload.safeParse(body).data;
export const readPreviewAnswer = (body: unknown) => preview.safeParse(body).data;
export const readAcceptedAnswer = (body: unknown) => acceptedAnswer.safeParse(body).data;
