// The changelog of an API as an Atom feed (RFC 4287): /.well-known/lifecycle/<api>.atom.
import { DAY_MS, type EpochMs } from '../../policy/contract.ts';
import { milestoneText, milestoneTitle } from '../../policy/lifecycle/milestone-words.ts';
import type { Milestone } from '../../policy/lifecycle/milestones.ts';
import { instantText } from './lifecycle-entry.ts';

export interface FeedOptions {
  readonly api: string;
  readonly page: string;
  readonly feed: string;
  readonly now: EpochMs;
  /** When an entry last changed (RFC 4287 §4.2.15). */
  readonly changedAt: (milestone: Milestone) => EpochMs;
}

/** The same milestones give the same bytes. Without entries, `updated` is the start of the current day. */
export function lifecycleFeed(
  milestones: readonly Milestone[],
  { api, page, feed, now, changedAt }: FeedOptions,
): string {
  const updated = milestones.length === 0 ? now - (now % DAY_MS) : Math.max(...milestones.map(changedAt));
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeXml(feed)}</id>
<title>${escapeXml(`${api}: what changes`)}</title>
<updated>${instantText(updated)}</updated>
<author><name>${escapeXml(api)}</name></author>
<link rel="self" type="application/atom+xml" href="${escapeXml(feed)}"/>
<link rel="alternate" type="text/html" href="${escapeXml(page)}"/>
${milestones.map((milestone) => entryOf(milestone, page, changedAt(milestone))).join('')}</feed>
`;
}

function entryOf(milestone: Milestone, page: string, changed: EpochMs): string {
  const { kind, life } = milestone;
  // The guide is about the end of a version, so a release links to the page.
  const about = kind === 'released' ? page : (life.schedule.guide ?? page);
  const text = milestoneText(milestone).join('\n');
  return `<entry>
<id>${escapeXml(idOf(milestone, page))}</id>
<title>${escapeXml(milestoneTitle(milestone))}</title>
<updated>${instantText(changed)}</updated>
<link rel="alternate" href="${escapeXml(about)}"/>
<content type="text">${escapeXml(text)}</content>
</entry>
`;
}

/** RFC 4151: a stable id per milestone. The place in its list distinguishes milestones of one kind and instant. */
function idOf(milestone: Milestone, page: string): string {
  const { kind, at } = milestone;
  const { label, operation } = milestone.life;
  const { hostname, pathname } = new URL(page);
  const day = instantText(at).slice(0, 10);
  const place = 'place' in milestone && milestone.place > 0 ? [String(milestone.place + 1)] : [];
  const what = [label, ...(operation === undefined ? [] : [operation]), kind, instantText(at), ...place];
  return `tag:${hostname},${day}:${pathname.slice(1)}/${what.map(encodeURIComponent).join('/')}`;
}

/** XML 1.0 forbids most control characters, even escaped. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
