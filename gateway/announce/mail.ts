// The mail to one consumer: everything it is to be told at once, with its own calls as evidence and what to call instead.
// Pure text; html.ts writes the same for those who read mail in a browser.
import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { GatewayPlan } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { milestoneText, milestoneTitle, nameOf } from '../policy/lifecycle/milestone-words.ts';
import { EVIDENCE_DAYS, type Evidence, type Told } from './callers.ts';
import { mailHtml } from './html.ts';
import type { MailFrame, MailPart } from './mail-part.ts';
import { successorCall, successorSentence } from './successor-call.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Of the notices and the consumer: a mail that is sent a second time is known for the same. */
  readonly messageId: string;
}

export interface MailOf {
  readonly plan: Pick<GatewayPlan, 'public'>;
  readonly consumer: string;
  readonly to: string;
  /** Whose domain the message id has. */
  readonly from: string;
  readonly now: EpochMs;
  /** At least one; of one version or operation together. */
  readonly told: readonly Told[];
}

const DAY_MS = 86_400_000;
const MOST_OPERATIONS = 10;

export function mailOf({ plan, consumer, to, from, now, told }: MailOf): Mail {
  // The latest first: it is nearest to what happens next.
  const latest = told.toSorted((a, b) => b.notice.milestone.at - a.notice.milestone.at);
  const lives = Map.groupBy(latest, ({ notice }) => notice.rules);
  const parts = [...lives.values()].map((each) => partOf(plan, each, now));
  const titles = latest.map(({ notice }) => milestoneTitle(notice.milestone));
  const more = titles.length === 1 ? '' : ` (and ${titles.length - 1} more)`;
  const frame = {
    opening: `You are told because you call it as ${onOneLine(consumer)}.`,
    closing: `Sent once by the gateway at ${plan.public} for each change of what you call.`,
  };
  return {
    to,
    subject: onOneLine(`${titles[0] ?? ''}${more}`),
    text: textOf(parts, frame),
    html: mailHtml(parts, frame),
    messageId: messageIdOf(consumer, told, from),
  };
}

function partOf(plan: Pick<GatewayPlan, 'public'>, told: readonly Told[], now: EpochMs): MailPart {
  const [first] = told;
  if (first === undefined) return { titles: [], sentences: [], evidence: [] };
  const { rules } = first.notice;
  const sunset = told.flatMap(({ notice: { milestone } }) => endIn(milestone)).at(0);
  const left = sunset === undefined ? undefined : daysLeft(sunset, now);
  const instead = successorCall(plan, rules);
  const sentences = [
    ...(left === undefined ? [] : [left]),
    ...told.flatMap(({ notice }) => milestoneText(asItStands(notice.milestone))),
    ...(instead === undefined ? [] : [successorSentence(instead)]),
  ];
  return {
    titles: told.map(({ notice }) => onOneLine(milestoneTitle(notice.milestone))),
    sentences: [...new Set(sentences)].map(onOneLine),
    evidence: evidenceLines(nameOf(rules), first.evidence).map(onOneLine),
  };
}

/** A changelog says when it was to end; who reads a mail is to know when it does. */
function asItStands(milestone: Told['notice']['milestone']): Told['notice']['milestone'] {
  if (milestone.kind !== 'deprecation') return milestone;
  return { ...milestone, sunset: milestone.life.schedule.sunset };
}

/** The day on which it will be over, where the milestone speaks of one. */
function endIn(milestone: Told['notice']['milestone']): readonly EpochMs[] {
  switch (milestone.kind) {
    case 'approaching':
      return [milestone.sunset];
    case 'extension':
      return [milestone.to];
    case 'deprecation':
      return milestone.sunset === undefined ? [] : [milestone.life.schedule.sunset ?? milestone.sunset];
    case 'brownouts':
    case 'sunset':
    case 'retired':
      return [];
    default:
      return milestone satisfies never;
  }
}

function daysLeft(sunset: EpochMs, now: EpochMs): string | undefined {
  const days = Math.ceil((sunset - now) / DAY_MS);
  if (days < 1) return undefined;
  return days === 1 ? 'One day is left.' : `${days} days are left.`;
}

function evidenceLines(name: string, { calls, lastAt, operations, sample }: Evidence): readonly string[] {
  const last = Temporal.Instant.fromEpochMilliseconds(lastAt).toString({ smallestUnit: 'second' });
  const named = operations.filter(([operation]) => operation !== undefined);
  const listed = named.length === 0 ? [] : operations.slice(0, MOST_OPERATIONS);
  return [
    `Your calls of ${name} in the last ${EVIDENCE_DAYS} days: ${calls.toLocaleString('en-US')}, the last at ${last}.`,
    ...listed.map(([operation, count]) => `${operation ?? 'others'}: ${count.toLocaleString('en-US')}`),
    ...(sample === undefined
      ? []
      : [`For example ${sample.method} ${sample.template}, request ${sample.requestId}.`]),
  ];
}

function textOf(parts: readonly MailPart[], { opening, closing }: MailFrame): string {
  const blocks = parts.map(({ titles, sentences, evidence: [calls = '', ...details] }) =>
    [...titles, '', ...sentences, '', calls, ...details.map((line) => `  ${line}`)].join('\n'),
  );
  return `${[opening, ...blocks, `-- \n${closing}`].join('\n\n')}\n`;
}

/** What becomes a header or a line of the text is one line, whatever it was made of. */
function onOneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

function messageIdOf(consumer: string, told: readonly Told[], from: string): string {
  const ids = told.map(({ notice }) => notice.id).sort();
  const digest = createHash('sha256')
    .update(JSON.stringify([consumer, ...ids]))
    .digest('hex');
  const domain = from.slice(from.lastIndexOf('@') + 1);
  // Of a literal in brackets there is no other way to write it.
  return `<${digest.slice(0, 40)}@${domainToASCII(domain) || domain}>`;
}
