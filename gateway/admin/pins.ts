// Pins through the admin API: the version an account stays on, its upgrade, and its way back for 72 hours.
// The policy says how a pin may move; here the account is found, the move is stored, and the outcome told.
import { versionsAt } from '../exchange/request-version.ts';
import { readEndingRequest, readUpgradeRequest } from '../plan/admin-requests.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { OverrideStore } from '../policy/lifecycle/override.ts';
import { isPrintableId } from '../policy/notation.ts';
import {
  type Pin,
  type PinKey,
  type PinMove,
  type PinnableVersions,
  type PinStore,
  rollBackPin,
  upgradePin,
} from '../policy/versioning/pin.ts';
import type { PinRule } from '../policy/versioning/resolution.ts';
import { type AdminAnswer, errorAnswer, malformedBody } from './answers.ts';
import { contended, pinAnswer, pinRefused, pinState } from './pin-answers.ts';
import type { AdminRequest, Route, Written } from './route.ts';
import { orStoreAway } from './store-away.ts';

export interface PinPorts {
  readonly plan: () => GatewayPlan;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  readonly overrides: Pick<OverrideStore, 'current'>;
  readonly pins: PinStore;
}

const PIN = '/-/pins/{api}/{account}';
/** Once more after somebody else moved the pin meanwhile. */
const ATTEMPTS = 2;

export function pinRoutes(ports: PinPorts): readonly Route[] {
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

async function upgrade(ports: PinPorts, request: AdminRequest): Promise<Written> {
  const read = readUpgradeRequest(request.body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { version, by, why } = read.value;
  const move: Move = (current, versions, now) => upgradePin(current, version, versions, now);
  return perform(ports, request, { by, why, asked: version, move });
}

async function rollBack(ports: PinPorts, request: AdminRequest): Promise<Written> {
  const read = readEndingRequest(request.body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  return perform(ports, request, { ...read.value, asked: undefined, move: rollBackPin });
}

type Move = (current: Pin | undefined, versions: PinnableVersions, now: EpochMs) => PinMove;

interface Asked {
  readonly by: string;
  readonly why: string;
  /** The version named; undefined for a roll-back. */
  readonly asked: string | undefined;
  readonly move: Move;
}

async function perform(
  ports: PinPorts,
  request: AdminRequest,
  { by, why, asked, move }: Asked,
): Promise<Written> {
  const found = find(ports, request);
  if (found.kind === 'unknown') return { answer: found.answer, audit: { by, why } };
  const audit = { by, why, subject: `${found.key.api} ${found.key.account}` };
  return orStoreAway(audit, () => carryOut(ports, found, { asked, move, audit }));
}

async function carryOut(
  ports: PinPorts,
  { api, key, rule }: Extract<Found, { kind: 'known' }>,
  { asked, move, audit }: Pick<Asked, 'asked' | 'move'> & Pick<Written, 'audit'>,
): Promise<Written> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const now = ports.now();
    const { isServed } = versionsAt(api, { now, overrides: ports.overrides.current() });
    const versions = { labels: api.resolution.labels, isServed };
    const current = await ports.pins.find(key);
    const moved = move(current, versions, now);
    if (moved.kind === 'refused') {
      const answer = pinRefused(moved.reason, { api: key.api, asked, current, versions });
      return { answer, audit: { ...audit, before: pinState(current) } };
    }
    if (!(await ports.pins.replace(key, current, moved.next))) continue;
    const answer = pinAnswer({ key, rule, pin: moved.next, now });
    return { answer, audit: { ...audit, before: pinState(current), after: pinState(moved.next) } };
  }
  return { answer: contended(), audit };
}

type Found =
  | {
      readonly kind: 'known';
      readonly api: GatewayPlan['apis'][number];
      readonly key: PinKey;
      readonly rule: PinRule;
    }
  | { readonly kind: 'unknown'; readonly answer: AdminAnswer };

function find({ plan }: PinPorts, { parameter }: AdminRequest): Found {
  const name = parameter('api');
  const account = parameter('account');
  const { apis } = plan();
  const api = apis.find((each) => each.name === name);
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
