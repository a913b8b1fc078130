// Words for what the admin API answers: pauses and pins as people read them in a terminal, and how to undo each.
// Pure text; what comes from elsewhere reaches the terminal without control characters.
import type { PauseAnswer, PauseBody, PausesAnswer, PinAnswer } from '../api/admin-answers.ts';
import type { NextCommand } from '../plan/next-command.ts';
import { plural } from '../plan/problems.ts';
import { dateInWords, parseInstant } from '../policy/notation.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';

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

/** The guard looks again within a minute, and until the sunset it makes a hold that is missing. */
const HELD_AGAIN =
  'Before its sunset a hold is made again while more is called than retire_when allows: on_exceed: warn stops that.';

function isHeldAgain({ kind, renewable = true }: PauseBody): boolean {
  return kind === 'hold' && renewable;
}

export function pauseEndedText(pause: PauseBody): string {
  if (pause.kind === 'hold')
    return onTerminal([
      `Ended the hold of ${subjectOf(pause)} that ${pause.by} had made until ${moment(pause.until)}.`,
      isHeldAgain(pause) ? HELD_AGAIN : 'Retirement happens by its date again, from the next request on.',
    ]);
  return onTerminal([
    `Ended the pause of ${subjectOf(pause)} that ${pause.by} had made until ${moment(pause.until)}.`,
    'Brownouts and retirement happen by their dates again, from the next request on.',
  ]);
}

/** Several pauses fit what was to be ended. */
export function severalPausesText(pauses: readonly PauseBody[]): string {
  const ids = pauses.map(({ id, until, ...pause }) => `  ${id}  ${subjectOf(pause)}, until ${moment(until)}`);
  return onTerminal(['sundial: several pauses fit; say which by its id:', ...ids]);
}

export function pinText({ api, account, rule, pin }: PinAnswer, next: NextCommand): string {
  const unstored =
    rule.created === null ? 'its first call' : `the day in its claim ${rule.created}, else its first call`;
  if (pin === null)
    return onTerminal([`${api}: nothing is stored for ${account}. Its version follows from ${unstored}.`]);
  const { version, origin, since, rollBack } = pin;
  return onTerminal([
    `${api}: ${account} gets ${version}, by ${ORIGINS[origin]} of ${moment(since)}.`,
    ...(rollBack === null
      ? ['No upgrade can be taken back.']
      : [
          `Until ${moment(rollBack.until)} this leads back to ${rollBack.version ?? `what follows from ${unstored}`}:`,
          `  ${next('pin', 'roll-back', api, account, '--why', '"…"')}`,
        ]),
  ]);
}

const ORIGINS: Readonly<Record<NonNullable<PinAnswer['pin']>['origin'], string>> = {
  first_call: 'the first call',
  upgrade: 'an upgrade',
  roll_back: 'a roll-back',
};

function effectLines({ effects }: PauseBody, indent: string): readonly string[] {
  if (effects.length === 0) return [`${indent}the policies name nothing of it any more`];
  return effects.map(({ summary }) => indent + summary);
}

function subjectOf({ api, version, effects }: Pick<PauseBody, 'api' | 'version' | 'effects'>): string {
  if (version === UNVERSIONED || (version === null && isUnversioned({ effects }))) return api;
  return version === null ? `every version of ${api}` : `${api} ${version}`;
}

/** Whether a pause is of an API without versions, as far as what it does tells. */
export function isUnversioned({ effects }: Pick<PauseBody, 'effects'>): boolean {
  return effects.some(({ version }) => version === UNVERSIONED);
}

/** Whole seconds are enough for people. */
export function moment(instant: string): string {
  const at = parseInstant(instant.replace(/\.\d+(?=Z$)/, ''));
  return at === undefined ? instant : dateInWords(at);
}

/** Whatever comes from elsewhere, without control characters. */
export function onTerminal(lines: readonly string[]): string {
  return lines.map((line) => `${line.replace(/\p{C}/gu, '?')}\n`).join('');
}
