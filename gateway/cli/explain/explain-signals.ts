// Lifecycle signals of a response, and how they differ between two instants.
import { dateInWords } from '../../policy/notation.ts';
import type { JudgedRequest } from '../judge.ts';
import { perWindow } from './decision-words.ts';

export interface SignalSet {
  readonly subject: string;
  readonly stage: string;
  readonly named: Readonly<Record<Relation, string | undefined>>;
  /** The Deprecation and Sunset headers in words. */
  readonly deprecated: string | undefined;
  readonly sunset: string | undefined;
  /** In words. The text of a limit that falls daily is the same on every day. */
  readonly limit: string | undefined;
  readonly lines: Readonly<Record<string, string>>;
}

const RELATIONS = ['successor', 'latest version', 'predecessor'] as const;
type Relation = (typeof RELATIONS)[number];
const LINES = ['deprecation', 'sunset', 'x-api-deprecation-info', 'link', 'warning'] as const;

export function signalsOf({ facts, ending }: JudgedRequest): SignalSet | undefined {
  const { version, phase, successor, linked } = facts;
  if (version === undefined || phase === undefined) return undefined;
  const headers = ending.kind === 'answered' ? ending.answer.headers : ending.headers;
  const { deprecated } = version.schedule;
  const isDated = deprecated !== undefined && phase.replace.some(([name]) => name === 'deprecation');
  // If the successor has the same URL, only the gateway's own response names it.
  const isShown = successor.replacement !== undefined || ending.kind === 'answered';
  return {
    subject: `${version.operation ?? ''} ${version.label}`,
    stage: phase.stage,
    named: {
      successor: isShown ? linked.successor?.label : undefined,
      'latest version': linked.latest,
      predecessor: linked.predecessor,
    },
    deprecated: isDated ? `deprecated ${dateInWords(deprecated)}` : undefined,
    sunset: phase.sunset === undefined ? undefined : `sunset ${dateInWords(phase.sunset)}`,
    limit: limitOf(facts),
    lines: Object.fromEntries(LINES.map((name) => [name, String(headers.get(name))])),
  };
}

/** A curve changes daily. It is reported once, not with every other change. */
function limitOf({ version, quotas }: JudgedRequest['facts']): string | undefined {
  const each = quotas?.map(({ limit }) => {
    const rule = version?.limits?.each.find(({ deprecated }) => deprecated.name === limit.name);
    const falls = rule?.curve !== undefined && limit.name !== rule.active.name;
    const what = quotas.length === 1 ? 'limit' : `limit ${limit.name}`;
    return falls ? `${what} falls by the day` : `${what} ${perWindow(limit)}`;
  });
  return each?.join(', ');
}

/** Empty for another version, whose headers all differ. A new stage explains its new headers. */
export function formatChanges(
  before: SignalSet | undefined,
  after: SignalSet | undefined,
): readonly string[] {
  if (before === undefined || after === undefined || before.subject !== after.subject) return [];
  const words = RELATIONS.flatMap((relation) => namedChange(relation, before, after));
  words.push(...otherThan(before.limit, after.limit));
  if (before.stage !== after.stage) return words;
  const dates = ['deprecated', 'sunset'] as const;
  const announced = dates.flatMap((date) => (before[date] === undefined ? (after[date] ?? []) : []));
  if (announced.length > 0) words.push(`announces ${announced.join(', ')}`);
  words.push(...dates.flatMap((date) => otherThan(before[date], after[date])));
  if (words.length > 0) return words;
  const other = LINES.filter((name) => before.lines[name] !== after.lines[name]);
  return other.length === 0 ? [] : [`other ${other.join(', ')}`];
}

function namedChange(relation: Relation, before: SignalSet, after: SignalSet): readonly string[] {
  const [was, is] = [before.named[relation], after.named[relation]];
  if (was === is) return [];
  return [is === undefined ? `no longer links ${was} as ${relation}` : `links ${is} as ${relation}`];
}

function otherThan(was: string | undefined, is: string | undefined): readonly string[] {
  return was === undefined || is === undefined || was === is ? [] : [is];
}
