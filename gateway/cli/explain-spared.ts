// Whom a brownout is for, and which written exceptions spare the caller: rows of `explain`.
// Part of explain-decisions.ts, asked once the request is judged and who calls is known.
import type { VersionRules } from '../plan/plan.ts';
import { meetsBrownout } from '../policy/lifecycle/brownout-refusal.ts';
import type { BrownoutWindow } from '../policy/lifecycle/brownout-rule.ts';
import { leaveFrom } from '../policy/lifecycle/exceptions.ts';
import { dateInWords } from '../policy/notation.ts';
import type { Decision } from './explain-row.ts';
import type { Judged } from './judge.ts';
import type { WrittenLines } from './written-lines.ts';

type Asked = Pick<Judged, 'facts' | 'view'>;

/** The next window of a version, or the one that is open. */
export function brownoutRow(
  version: VersionRules,
  window: BrownoutWindow,
  asked: Asked,
  lines: WrittenLines,
): Decision {
  const isOpen = window.from <= asked.facts.now;
  const { share, drawn, assumed }: Draw = isOpen ? draw(version, window, asked) : shareOf(version, window);
  const span = `${dateInWords(window.from)} to ${dateInWords(window.until)}`;
  return {
    step: 'brownout',
    value: isOpen ? 'now' : 'to come',
    detail: [span, share, drawn].filter((each) => each !== undefined).join(', '),
    assumed,
    origin: lines.brownout(version, window.rule),
  };
}

interface Draw {
  readonly share?: string;
  readonly drawn?: string;
  readonly assumed?: string;
}

function shareOf({ access }: VersionRules, { share }: BrownoutWindow): Draw {
  if (share === undefined) return {};
  return {
    share: `for ${Math.round(share * 100)}% of ${access.kind === 'public' ? 'addresses' : 'consumers'}`,
  };
}

function draw(version: VersionRules, window: BrownoutWindow, { facts, view }: Asked): Draw {
  const { consumer, now } = facts;
  const told = shareOf(version, window);
  if (told.share === undefined || leaveFrom('brownouts', version.exceptions, consumer, now)) return told;
  const isMet = meetsBrownout(window, version, now, { consumer, clientAddress: view.clientAddress });
  const among = `is${isMet ? '' : ' not'} among them`;
  if (consumer !== undefined) return { ...told, drawn: `${consumer.id} ${among}` };
  return version.access.kind === 'public' ? { ...told, assumed: `the address ${among}` } : told;
}

/** The exceptions of this consumer that have not ended, whatever they free it from now. */
export function exceptionRows(
  { exceptions }: VersionRules,
  { consumer, now }: Judged['facts'],
  line: (index: number) => Decision['origin'],
): readonly Decision[] {
  return exceptions.flatMap((each, index) =>
    each.consumer !== consumer?.id || each.until <= now
      ? []
      : {
          step: 'exception',
          value: each.from.join(', '),
          detail: `${each.consumer} has leave until ${dateInWords(each.until)}: ${each.why}`,
          assumed: undefined,
          origin: line(index),
        },
  );
}
