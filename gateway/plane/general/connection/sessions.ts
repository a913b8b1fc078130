// Closes HTTP/2 connections that are idle, or whose client only resets its streams (H2-6).
import { constants, type Http2Session, type ServerHttp2Session } from 'node:http2';
import type { Bounds } from '../../../plan/bounds.ts';
import type { BoundsCounter } from '../../port.ts';

/** nghttp2's error for a header section in endless CONTINUATION frames. */
const ENDLESS_HEADERS = /CONTINUATION/;

export interface Http2Sessions {
  readonly watch: (session: ServerHttp2Session) => void;
  /** Whether one of its streams was reset, so that the next may be too. */
  readonly hasReset: (session: Http2Session | undefined) => boolean;
  readonly isBusy: (session: Http2Session) => boolean;
}

export function createSessions(bounds: Bounds, report: Pick<BoundsCounter, 'refused'>): Http2Sessions {
  const facts = new WeakMap<Http2Session, SessionFacts>();
  return {
    watch: (session) => void facts.set(session, watchSession(session, bounds, report)),
    isBusy: (session) => (facts.get(session)?.streams ?? 0) > 0,
    hasReset: (session) => session !== undefined && facts.get(session)?.hasReset === true,
  };
}

interface SessionFacts {
  streams: number;
  hasReset: boolean;
}

function watchSession(
  session: ServerHttp2Session,
  { idleMs, resets }: Bounds,
  report: Pick<BoundsCounter, 'refused'>,
): SessionFacts {
  const facts: SessionFacts = { streams: 0, hasReset: false };
  // A token bucket that refills within the window, so that single resets need not be recorded.
  let left = resets.units;
  let filledAt = performance.now();
  // Idle means without a request. Pings, settings and a slow header section keep Node's own timeout from passing.
  const idle = setTimeout(() => {
    // Sends GOAWAY with the last stream, and does not wait for an incomplete header section.
    if (facts.streams === 0) session.destroy();
  }, idleMs);

  function onReset(): void {
    facts.hasReset = true;
    const now = performance.now();
    left = Math.min(resets.units, left + ((now - filledAt) * resets.units) / resets.windowMs) - 1;
    filledAt = now;
    if (left >= 0 || session.destroyed) return;
    report.refused('resets');
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }

  session.on('stream', (stream) => {
    facts.streams += 1;
    stream.once('close', () => {
      facts.streams -= 1;
      if (facts.streams === 0) idle.refresh();
      // Counts our own resets, because a client can provoke them. Counts aborted streams too, because
      // NO_ERROR also ends a stream without a response.
      if (stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) onReset();
    });
  });
  session.on('error', ({ message }) => {
    if (ENDLESS_HEADERS.test(message)) report.refused('header_bytes');
  });
  session.once('close', () => clearTimeout(idle));
  return facts;
}
