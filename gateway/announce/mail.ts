// Writes the mail to one address, as text and HTML: all notices, the calls of its consumers, and what to call instead.
import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { GatewayPlan, VersionRules } from '../plan/plan.ts';
import { DAY_MS, type EpochMs } from '../policy/contract.ts';
import { milestoneText, milestoneTitle, nameOf } from '../policy/lifecycle/milestone-words.ts';
import { type CallingConsumer, callLines, exceptionLines } from './callers.ts';
import { successorCall, successorSentence } from './event.ts';
import type { DueMilestone, Notice } from './notices.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** From notices and consumers, so that mail clients detect a repeated mail. */
  readonly messageId: string;
}

export interface MailOf {
  readonly plan: Pick<GatewayPlan, 'public'>;
  readonly to: string;
  readonly from: string;
  readonly now: EpochMs;
  /** At least one, each with a notice. */
  readonly readers: readonly CallingConsumer[];
}

const NAMES = new Intl.ListFormat('en-GB');

const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/g;

interface MailPart {
  readonly titles: readonly string[];
  readonly sentences: readonly string[];
  readonly evidence: readonly (readonly string[])[];
}

interface MailFrame {
  readonly opening: string;
  readonly closing: string;
}

export function mailOf({ plan, to, from, now, readers }: MailOf): Mail {
  const byId = new Map(readers.flatMap((each) => each.notices).map(({ notice }) => [notice.id, notice]));
  // The latest first, because it is the most relevant.
  const latest = [...byId.values()].sort((a, b) => b.milestone.at - a.milestone.at);
  const byRules = Map.groupBy(latest, ({ rules }) => rules);
  const parts = [...byRules].map(([rules, notices]) => partOf(plan, rules, notices, readers, now));
  const titles = latest.map(({ milestone }) => milestoneTitle(milestone));
  const more = titles.length === 1 ? '' : ` (and ${titles.length - 1} more)`;
  const names = NAMES.format(readers.map(({ consumer }) => onOneLine(consumer)));
  const frame = {
    opening: `You get this mail because of calls as ${names}.`,
    closing: `Sent once by the gateway at ${plan.public} for each change that affects your calls.`,
  };
  return {
    to,
    subject: onOneLine(`${titles[0] ?? ''}${more}`),
    text: textOf(parts, frame),
    html: mailHtml(parts, frame),
    messageId: messageIdOf(readers, from),
  };
}

/** The part about one version or operation, with the calls of each consumer. */
function partOf(
  plan: Pick<GatewayPlan, 'public'>,
  rules: VersionRules,
  notices: readonly Notice[],
  readers: readonly CallingConsumer[],
  now: EpochMs,
): MailPart {
  const milestones = notices.map(({ milestone }) => milestone);
  const life = milestones[0]?.life;
  const sunset = milestones.flatMap(announcedEnd).at(0);
  const left = sunset === undefined ? undefined : daysLeft(sunset, now);
  const instead = life && successorCall(plan, rules, life.schedule);
  const sentences = [
    ...(left === undefined ? [] : [left]),
    ...milestones.flatMap((milestone) => milestoneText(withCurrentSunset(milestone))),
    ...(instead === undefined ? [] : [successorSentence(instead)]),
  ];
  const evidence = readers.flatMap(({ consumer, notices }) => {
    const own = notices.find(({ notice }) => notice.rules === rules)?.evidence;
    if (own === undefined) return [];
    const who = readers.length === 1 ? undefined : consumer;
    return [[...callLines(nameOf(rules), who, own), ...exceptionLines(rules, consumer, now)].map(onOneLine)];
  });
  return {
    titles: milestones.map((milestone) => onOneLine(milestoneTitle(milestone))),
    sentences: [...new Set(sentences)].map(onOneLine),
    evidence,
  };
}

/** The changelog has the date as announced, a mail has the current one. */
function withCurrentSunset(milestone: DueMilestone): DueMilestone {
  if (milestone.kind !== 'deprecation') return milestone;
  return { ...milestone, sunset: milestone.life.schedule.sunset };
}

/** The end date that the milestone announces. */
function announcedEnd(milestone: DueMilestone): readonly EpochMs[] {
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

function textOf(parts: readonly MailPart[], { opening, closing }: MailFrame): string {
  const blocks = parts.map(({ titles, sentences, evidence }) =>
    [
      [...titles, '', ...sentences],
      ...evidence.map(([calls = '', ...details]) => [calls, ...details.map((line) => `  ${line}`)]),
    ]
      .map((lines) => lines.join('\n'))
      .join('\n\n'),
  );
  return `${[opening, ...blocks, `-- \n${closing}`].join('\n\n')}\n`;
}

/** Prevents line breaks in header fields and text lines. */
function onOneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

function messageIdOf(readers: readonly CallingConsumer[], from: string): string {
  const ids = readers.map(({ consumer, notices }) => [
    consumer,
    ...notices.map(({ notice }) => notice.id).sort(),
  ]);
  const digest = createHash('sha256').update(JSON.stringify(ids)).digest('hex');
  const domain = from.slice(from.lastIndexOf('@') + 1);
  // `domainToASCII` is empty for an address literal in brackets.
  return `<${digest.slice(0, 40)}@${domainToASCII(domain) || domain}>`;
}

/** Without images, scripts or requests. Every text is escaped, and only http and https URLs become links. */
function mailHtml(parts: readonly MailPart[], { opening, closing }: MailFrame): string {
  const body = parts.map(
    ({ titles, sentences, evidence }) =>
      `${titles.map((line) => `<h2>${escapeHtml(line)}</h2>\n`).join('')}<p>${sentences.map(linked).join('<br>\n')}</p>\n${evidence.map(evidenceHtml).join('')}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"></head><body>
<p>${escapeHtml(opening)}</p>
${body.join('')}<p><small>${linked(closing)}</small></p>
</body></html>
`;
}

function evidenceHtml([calls = '', ...details]: readonly string[]): string {
  const list = details.map((line) => `<li>${escapeHtml(line)}</li>\n`).join('');
  return `<p>${escapeHtml(calls)}</p>\n${list === '' ? '' : `<ul>\n${list}</ul>\n`}`;
}

function linked(text: string): string {
  let html = '';
  let from = 0;
  for (const { 0: url, index } of text.matchAll(LINK)) {
    html += `${escapeHtml(text.slice(from, index))}<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
    from = index + url.length;
  }
  return html + escapeHtml(text.slice(from));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
