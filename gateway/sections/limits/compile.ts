// Compiles the limits of a version or operation, with inherited values and lowered forms.
import type { VersionRules } from '../../plan/plan.ts';
import {
  bucketName,
  type CountedBy,
  type Limit,
  type LimitRule,
  type LimitRules,
} from '../../policy/rate-limit/limit.ts';
import { type Lowering, lowerByCurve, loweredTo, lowerLimit } from '../../policy/rate-limit/lowering.ts';
import type { PolicyFile } from '../policy-file.ts';
import type { DatedInput } from '../section.ts';
import { type NamedLimit, namedLimits, type WrittenLimits } from './grammar.ts';

export function limitsByDates({
  file,
  label,
  version,
  schedule,
  operation,
}: DatedInput): Pick<VersionRules, 'limits'> {
  const own = operation && limitsOfOperation(operation);
  return { limits: compileLimits(file, { label, version: version.limits, schedule, operation: own }) };
}

function limitsOfOperation({ name, written }: NonNullable<DatedInput['operation']>): LimitsOf['operation'] {
  const { limits, cost, deprecated, sunset } = written;
  return { name, limits, cost, hasDates: deprecated !== undefined || sunset !== undefined };
}

export interface LimitsOf {
  readonly label: string;
  readonly version: WrittenLimits;
  readonly schedule: Parameters<typeof lowerByCurve>[2];
  readonly operation?:
    | {
        readonly name: string;
        readonly limits: WrittenLimits;
        readonly hasDates: boolean;
        readonly cost: number | undefined;
      }
    | undefined;
}

type ApiLimits = Pick<PolicyFile, 'limits' | 'access'> & { readonly api: string };

/** One limit at each level, nearest first. Undefined for a level without it. */
type Layers = readonly (NamedLimit | undefined)[];

/** Undefined if no level sets a rate. */
export function compileLimits(file: ApiLimits, of: LimitsOf): LimitRules | undefined {
  const rules = limitLayers(file, of).flatMap(([name, layers]) => compileLimit(name, layers, file, of) ?? []);
  if (rules.length === 0) return undefined;
  const ofEveryone = ({ by }: LimitRule) => by === 'everyone';
  return {
    each: [...rules.filter((rule) => !ofEveryone(rule)), ...rules.filter(ofEveryone)],
    cost: of.operation?.cost ?? 1,
  };
}

/** By name, outer levels first. A level with `off` inherits nothing. */
export function limitLayers(
  { limits }: Pick<ApiLimits, 'limits'>,
  { version, operation }: Pick<LimitsOf, 'version' | 'operation'>,
): readonly (readonly [name: string, layers: Layers])[] {
  const places = [operation?.limits, version, limits];
  const off = places.indexOf('off');
  const nearestFirst = (off < 0 ? places : places.slice(0, off)).map(namedLimits);
  const names = new Set(nearestFirst.toReversed().flatMap((place) => place.map(({ name }) => name)));
  return [...names].map((name) => [
    name,
    nearestFirst.map((place) => place.find((each) => each.name === name)),
  ]);
}

function compileLimit(
  name: string,
  layers: Layers,
  { api, access }: ApiLimits,
  { label, operation, schedule }: LimitsOf,
): LimitRule | undefined {
  const nearestValue = <K extends keyof NamedLimit>(key: K) =>
    layers.find((each) => each?.[key] !== undefined)?.[key];
  const base = baseOf(name, layers);
  if (base === undefined) return undefined;
  const lowering = nearestValue('deprecated');
  const deprecated = lowering === undefined ? base : lowered(base, lowering, isInherited(layers));
  const ownScope = operation === undefined ? label : `${label} ${operation.name}`;
  const own = operation === undefined ? undefined : layers[0];
  // Only an operation with its own rate has its own bucket. Otherwise it would get the same limit a second time.
  const scope = own?.rate === undefined && own?.burst === undefined ? label : ownScope;
  const scopeOfLowered = own === undefined && !operation?.hasDates ? label : ownScope;
  const by: CountedBy = nearestValue('by') ?? (access === 'public' ? 'address' : 'consumer');
  return {
    active: base,
    deprecated,
    curve: lowering && lowerByCurve(base, lowering, schedule),
    buckets: {
      active: bucketName(api, scope, base.name),
      deprecated: bucketName(api, scopeOfLowered, deprecated.name),
    },
    by,
    onStoreFailure: nearestValue('on_store_failure') ?? 'local',
    // A sliding log cannot lease units in advance.
    exact: base.algorithm === 'sliding-log' || (nearestValue('exact') ?? false),
    shadow: nearestValue('shadow') ?? false,
  };
}

/** A burst belongs to the rate of its own level: a level with its own rate does not inherit a burst. */
function baseOf(name: string, layers: Layers): Limit | undefined {
  const algorithm = layers.find((each) => each?.algorithm !== undefined)?.algorithm;
  let burst: number | undefined;
  for (const each of layers) {
    burst ??= each?.burst;
    if (each?.rate !== undefined) {
      const { units, windowMs } = each.rate;
      if (algorithm === 'sliding-log') return { name, units, windowMs, burst: units, algorithm };
      return { name, units, windowMs, burst: burst ?? units };
    }
  }
  return undefined;
}

/** Whether the rate is at a nearer level than the lowering, which was then written for another rate. */
function isInherited(layers: Layers): boolean {
  const rate = layers.findIndex((each) => each?.rate !== undefined);
  return rate < layers.findIndex((each) => each?.deprecated !== undefined);
}

/** An inherited lowered rate must not raise a limit: a deprecation never gives more units. */
function lowered(base: Limit, lowering: Lowering, inherited: boolean): Limit {
  const raises =
    lowering.kind === 'absolute' && lowering.units * base.windowMs > base.units * lowering.windowMs;
  return raises && inherited ? loweredTo(base, base) : lowerLimit(base, lowering);
}
