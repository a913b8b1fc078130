// Admin routes for pins: show, upgrade, and roll back within 72 hours.

import { readEndingRequest, readUpgradeRequest } from '../api/admin-requests.ts';
import { versionsAt } from '../exchange/steps/resolution.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { OverrideStore } from '../policy/lifecycle/override.ts';
import { dayOf, isPrintableId } from '../policy/notation.ts';
import {
  choosePin,
  type Pin,
  type PinAvailability,
  type PinKey,
  type PinStore,
  rollBackPin,
  upgradePin,
} from '../policy/versioning/pin.ts';
import type { Label, PinRule } from '../policy/versioning/resolution.ts';
import { type AdminAnswer, errorAnswer, malformedBody } from './answers.ts';
import { contended, createdNotUsed, pinAnswer, pinRefused, pinState } from './pin-answers.ts';
import { type AdminRequest, type AdminRoute, type AdminWriteResult, orStoreUnavailable } from './route.ts';

export interface PinPorts {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly overrides: Pick<OverrideStore, 'current'>;
  readonly pins: PinStore;
}

const PIN = '/-/pins/{api}/{account}';
/** One retry after a concurrent change of the pin. */
const ATTEMPTS = 2;

export function pinRoutes(ports: PinPorts): readonly AdminRoute[] {
  return [
    { method: 'GET', path: PIN, show: (request) => show(ports, request) },
    { method: 'PUT', path: PIN, action: 'upgrade_pin', perform: (request) => upgrade(ports, request) },
    {
      method: 'POST',
      path: `${PIN}/roll-back`,
      action: 'roll_back_pin',
      perform: (request) => rollBack(ports, request),
    },
  ];
}

async function show(ports: PinPorts, request: AdminRequest): Promise<AdminAnswer> {
  const found = find(ports, request);
  if (found.kind === 'unknown') return found.answer;
  const { key, rule } = found;
  return pinAnswer({ key, rule, pin: await ports.pins.find(key), now: ports.now() });
}

async function upgrade(ports: PinPorts, request: AdminRequest): Promise<AdminWriteResult> {
  const read = readUpgradeRequest(request.body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { version, created, by, why } = read.value;
  return perform(ports, request, { by, why, kind: 'upgrade', to: version, created });
}

async function rollBack(ports: PinPorts, request: AdminRequest): Promise<AdminWriteResult> {
  const read = readEndingRequest(request.body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  return perform(ports, request, { ...read.value, kind: 'roll_back' });
}

type PinMoveRequest =
  /** `created`: when the account was created, if the caller knows it. */
  | { readonly kind: 'upgrade'; readonly to: Label; readonly created: EpochMs | undefined }
  | { readonly kind: 'roll_back' };

type AuthoredPinMove = PinMoveRequest & { readonly by: string; readonly why: string };

async function perform(
  ports: PinPorts,
  request: AdminRequest,
  { by, why, ...move }: AuthoredPinMove,
): Promise<AdminWriteResult> {
  const found = find(ports, request);
  if (found.kind === 'unknown') return { answer: found.answer, audit: { by, why } };
  const audit = { by, why, subject: `${found.key.api} ${found.key.account}` };
  if (move.kind === 'upgrade' && move.created !== undefined && found.rule.created === undefined)
    return { answer: createdNotUsed(found.key.api), audit };
  return orStoreUnavailable(audit, () => carryOut(ports, found, move, audit));
}

async function carryOut(
  ports: PinPorts,
  { api, key, rule }: Extract<PinLookup, { kind: 'known' }>,
  move: PinMoveRequest,
  audit: AdminWriteResult['audit'],
): Promise<AdminWriteResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const now = ports.now();
    const versions = versionsAt(api, { now, overrides: ports.overrides.current() });
    const pinnable = { labels: api.resolution.labels, isServed: versions.isServed };
    const current = await ports.pins.find(key);
    const from = fromOf(move, api, current, versions);
    const moved =
      move.kind === 'upgrade'
        ? upgradePin(current, { from, to: move.to }, pinnable, now)
        : rollBackPin(current, pinnable, now);
    if (moved.kind === 'refused') {
      const requested = move.kind === 'upgrade' ? move.to : undefined;
      const answer = pinRefused(moved.reason, { api: key.api, requested, from, current, versions: pinnable });
      return { answer, audit: { ...audit, before: pinState(current) } };
    }
    if (!(await ports.pins.replace(key, current, moved.next))) continue;
    const answer = pinAnswer({ key, rule, pin: moved.next, now });
    return { answer, audit: { ...audit, before: pinState(current), after: pinState(moved.next) } };
  }
  return { answer: contended(), audit };
}

/** The version that an account gets now, as far as it is known without the token. */
function fromOf(
  move: PinMoveRequest,
  { resolution }: GatewayPlan['apis'][number],
  current: Pin | undefined,
  versions: PinAvailability,
): Label | undefined {
  if (current !== undefined || move.kind === 'roll_back' || move.created === undefined) return current?.label;
  const choice = choosePin(resolution, undefined, dayOf(move.created), versions);
  return choice.kind === 'pinned' ? choice.label : undefined;
}

type PinLookup =
  | {
      readonly kind: 'known';
      readonly api: GatewayPlan['apis'][number];
      readonly key: PinKey;
      readonly rule: PinRule;
    }
  | { readonly kind: 'unknown'; readonly answer: AdminAnswer };

function find({ plan }: PinPorts, { parameter }: AdminRequest): PinLookup {
  const name = parameter('api');
  const account = parameter('account');
  const { apis, apiNamed } = plan();
  const api = apiNamed(name);
  const rule = api?.resolution.pin;
  if (api === undefined || rule === undefined) {
    const pinning = apis.filter(({ resolution }) => resolution.pin !== undefined).map((each) => each.name);
    const those = pinning.length === 0 ? 'No API has pins.' : `APIs with pins: ${pinning.join(', ')}.`;
    const what = api === undefined ? 'There is no such API.' : 'This API pins no accounts.';
    return { kind: 'unknown', answer: errorAnswer(404, `${what} ${those}`) };
  }
  if (!isPrintableId(account)) {
    const message = 'An account is one line of 1 to 256 printable characters, percent-encoded in the path.';
    return { kind: 'unknown', answer: errorAnswer(400, message) };
  }
  return { kind: 'known', api, key: { api: name, account }, rule };
}
