// Checks the plan for due notices every minute, and sends the events and mails that were not sent yet.
import type { NoticesSent } from '../api/notice-answers.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { createBackoff } from './backoff.ts';
import { eventOf } from './event.ts';
import { createMailRound } from './mail-round.ts';
import { beginMark, createMarks, eventMark, isBeforeFirstCheck, isOpen, overMark } from './marks.ts';
import { kindOf, type Notice, noticesAt, notifiableFrom } from './notices.ts';
import type { AnnouncerPorts } from './ports.ts';
import { createPreview, type Preview } from './preview.ts';

export interface Announcer {
  /** Sends what is due now and ignores backoff. `busy`: another gateway is sending. Rejects with `StoreUnavailable`. */
  readonly announce: () => Promise<NoticesSent>;
  readonly preview: Preview;
  readonly begin: () => void;
  readonly close: () => Promise<void>;
}

const EVERY_MS = 60_000;
const LEASE = 'turn';

export function createAnnouncer(ports: AnnouncerPorts): Announcer {
  const { plan, now, monotonic, overrides, settings, report, sendEvent } = ports;
  const marks = createMarks(ports.announced, ports);
  const events = createBackoff(monotonic);
  const mails = createMailRound(ports, marks);
  let running: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let isClosed = false;

  const openNotices = async (): Promise<readonly Notice[]> => {
    const moment = { now: now(), overrides: overrides() };
    const open: Notice[] = [];
    for (const api of plan().apis) {
      const { due, superseded } = noticesAt(api, moment, settings.daysBefore);
      const firstCheck = await marks.once(beginMark(api.name), String(moment.now));
      for (const { id, milestone } of superseded)
        if (!isBeforeFirstCheck(milestone.at, firstCheck)) await marks.once(overMark(id), '');
      for (const notice of due) {
        const from = notifiableFrom(notice);
        if (isBeforeFirstCheck(from, firstCheck)) continue;
        if (!isOpen(await marks.once(notice.id, String(moment.now)), from, moment.now)) continue;
        const [over] = await marks.find([overMark(notice.id)]);
        if (over === undefined) open.push(notice);
      }
    }
    return open;
  };

  const holdsLease = async (): Promise<boolean> => !isClosed && marks.claim(LEASE);

  const sendEvents = async (notices: readonly Notice[], forced: boolean): Promise<NoticesSent['events']> => {
    const result = { sent: 0, failed: 0 };
    if (sendEvent === undefined || !(forced || events.isReady())) return result;
    for (const notice of notices) {
      const mark = eventMark(notice.id);
      if (!(await marks.claim(mark))) continue;
      if (!(await holdsLease())) {
        await marks.release(mark);
        return result;
      }
      const outcome = await sendEvent(eventOf(plan(), notice));
      report.onAnnounced(kindOf(notice), 'event', outcome.kind);
      if (outcome.kind === 'failed') {
        await marks.release(mark);
        events.failed();
        report.onFailed('event', outcome.reason);
        result.failed += 1;
        if (!outcome.onlyThis) break;
        continue;
      }
      await marks.done(mark, String(now()));
      result.sent += 1;
    }
    if (result.failed === 0) events.succeeded();
    return result;
  };

  const check = async (forced: boolean): Promise<NoticesSent> => {
    const nothing = {
      events: { sent: 0, failed: 0 },
      mails: { sent: 0, refused: 0, failed: 0, withoutContact: 0 },
    };
    if (!(await holdsLease())) return { busy: true, ...nothing };
    try {
      const open = await openNotices();
      const sent = await sendEvents(open, forced);
      return { busy: false, events: sent, mails: await mails(open, forced, holdsLease) };
    } finally {
      await marks.release(LEASE);
    }
  };
  const afterRunning = (forced: boolean): Promise<NoticesSent> => {
    waiting += 1;
    const next = running
      .then(() => check(forced))
      .finally(() => {
        waiting -= 1;
      });
    running = next.catch(() => undefined);
    return next;
  };
  /** The store reports its own outage. */
  const checkAgain = async (): Promise<void> => {
    if (waiting > 0) return;
    try {
      await afterRunning(false);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) report.onFault(error);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    announce: () => afterRunning(true),
    preview: createPreview(ports, marks),
    begin: () => {
      timer = setInterval(() => void checkAgain(), EVERY_MS).unref();
      void checkAgain();
    },
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
}
