// Pauses as text for a terminal, and how to end each.
import type { PauseAnswer, PauseBody, PausesAnswer } from '../../api/admin-answers.ts';
import type { NextCommand } from '../../plan/next-command.ts';
import { plural } from '../../plan/problems.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { moment, onTerminal } from '../terminal-text.ts';

export function pauseMadeText({ pause, now }: PauseAnswer, next: NextCommand): string {
  return onTerminal([
    `Paused brownouts and retirement of ${subjectOf(pause)} until ${moment(pause.until)}.`,
    ...effectLines(pause, '  '),
    `End it earlier: ${next('pause', '--end', pause.id, '--why', '"…"')}`,
    `All pauses: ${next('pause', '--list')} (the gateway's clock: ${moment(now)})`,
  ]);
}

export function pausesText({ overrides, now }: PausesAnswer, next: NextCommand): string {
  if (overrides.length === 0) return `No pause is in force at ${moment(now)}, by the gateway's clock.\n`;
  const blocks = overrides.map((pause) => [
    '',
    `${pause.id}  ${subjectOf(pause)}, ${pause.kind === 'hold' ? 'retirement held ' : ''}until ${moment(pause.until)}`,
    `  by ${pause.by}: ${pause.why}`,
    ...effectLines(pause, '  '),
  ]);
  const heading = `${plural(overrides.length, 'pause')} in force at ${moment(now)}, by the gateway's clock.`;
  return onTerminal([
    heading,
    ...blocks.flat(),
    '',
    `End one: ${next('pause', '--end', '<id>', '--why', '"…"')}`,
    ...(overrides.some(isHeldAgain) ? [HELD_AGAIN] : []),
  ]);
}

/** The guard checks every minute and recreates a missing hold until the sunset. */
const HELD_AGAIN =
  'The gateway renews a hold until the sunset if usage exceeds retire_when. on_exceed: warn stops that.';

function isHeldAgain({ kind, renewable = true }: PauseBody): boolean {
  return kind === 'hold' && renewable;
}

export function pauseEndedText(pause: PauseBody): string {
  if (pause.kind === 'hold')
    return onTerminal([
      `Ended the hold of ${subjectOf(pause)} that ${pause.by} had made until ${moment(pause.until)}.`,
      isHeldAgain(pause) ? HELD_AGAIN : 'From the next request, retirement follows its date again.',
    ]);
  return onTerminal([
    `Ended the pause of ${subjectOf(pause)} that ${pause.by} had made until ${moment(pause.until)}.`,
    'From the next request, brownouts and retirement follow their dates again.',
  ]);
}

export function severalPausesText(pauses: readonly PauseBody[]): string {
  const ids = pauses.map(({ id, until, ...pause }) => `  ${id}  ${subjectOf(pause)}, until ${moment(until)}`);
  return onTerminal(['sundial: several pauses match; name one by its id:', ...ids]);
}

function effectLines({ effects }: PauseBody, indent: string): readonly string[] {
  if (effects.length === 0) return [`${indent}the policies do not have this subject any more`];
  return effects.map(({ summary }) => indent + summary);
}

function subjectOf({ api, version, effects }: Pick<PauseBody, 'api' | 'version' | 'effects'>): string {
  if (version === UNVERSIONED || (version === null && isUnversioned({ effects }))) return api;
  return version === null ? `every version of ${api}` : `${api} ${version}`;
}

/** Whether the pause is of an API without versions, as far as its effects show. */
export function isUnversioned({ effects }: Pick<PauseBody, 'effects'>): boolean {
  return effects.some(({ version }) => version === UNVERSIONED);
}
