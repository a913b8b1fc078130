// `sundial pause`: stops brownouts and retirement at once, on every gateway of the store, until a given instant.
import { type Command, Option } from 'commander';
import {
  type PauseBody,
  readEndedAnswer,
  readPauseAnswer,
  readPausesAnswer,
} from '../../api/admin-answers.ts';
import type { NextCommand } from '../../plan/next-command.ts';
import { GLOSSARY } from '../../policy/glossary.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import {
  type CallError,
  call,
  failed,
  failure,
  type GatewayAction,
  type GatewayClient,
  segment,
} from '../admin-call.ts';
import {
  type AuthorOptions,
  authorOf,
  byOption,
  onGateway,
  readDuration,
  whyOption,
  withGateway,
} from '../admin-command.ts';
import { type CommandSetting, readInstantText, withCalls } from '../command-setting.ts';
import { isUnversioned, pauseEndedText, pauseMadeText, pausesText, severalPausesText } from './pause-text.ts';

const CALLS = `Pause: ${GLOSSARY.pause}

Usual calls:
  sundial pause orders v1 --for 2h --why "the new client fails at checkout"
  sundial pause --list
  sundial pause --end orders v1 --why "fixed"`;

interface PauseOptions extends Partial<AuthorOptions> {
  readonly for?: string;
  readonly until?: string;
  readonly list?: true;
  readonly end?: true;
}

export function addPauseCommand(program: Command, setting: CommandSetting): void {
  const command = withCalls(program.command('pause'), CALLS)
    .description('suspend brownouts and retirement of an API or version on all gateways, for a while')
    .argument('[api]', 'the API; with --end also the id of a pause')
    .argument('[version]', 'one version of the API; default every version')
    .addOption(new Option('--for <duration>', 'duration, such as 2h or 3d').argParser(readDuration))
    .addOption(
      new Option('--until <date>', 'day or instant at which the pause ends')
        .argParser(readInstantText)
        .conflicts('for'),
    )
    .addOption(whyOption())
    .addOption(byOption())
    .addOption(new Option('--list', 'show the pauses in force').conflicts(['end', 'for', 'until', 'why']))
    .addOption(new Option('--end', 'end a pause before its time').conflicts(['for', 'until']));
  onGateway(
    withGateway(command),
    setting,
    (api: string | undefined, version: string | undefined, options: PauseOptions) => {
      const { list, end, for: duration, until, why, by } = options;
      if (list) {
        if (api !== undefined) command.error('error: --list shows every pause, so it has no API argument');
        return call({ request: LIST, read: readPausesAnswer, render: pausesText });
      }
      if (api === undefined)
        return command.error(
          end ? 'error: name the API or the pause to end' : 'error: name an API to pause, or use --list',
        );
      if (why === undefined) return command.error('error: --why is required; it is stored with the pause');
      const author = authorOf(command, { by, why });
      if (end) return endPause({ what: api, version }, author);
      if (duration === undefined && until === undefined)
        return command.error('error: the end of the pause is missing: use --for 2h or --until 2026-12-01');
      const body = { api, version, for: duration, until, ...author };
      return call({
        request: { method: 'POST', path: '/-/pauses', body },
        read: readPauseAnswer,
        render: pauseMadeText,
        inCommandWords,
      });
    },
  );
}

const LIST = { method: 'GET', path: '/-/overrides' } as const;

interface PauseSelector {
  /** The id of a pause, or its API. */
  readonly what: string;
  readonly version: string | undefined;
}

function endPause(meant: PauseSelector, body: Readonly<Record<'by' | 'why', string>>): GatewayAction {
  return async (gateway) => {
    const found = await findPause(gateway, meant);
    if (found.kind === 'failed') return failed(found, gateway.format);
    return call({
      request: { method: 'DELETE', path: `/-/pauses/${segment(found.id)}`, body },
      read: readEndedAnswer,
      // The effects of a pause in force show whether its API has versions.
      render: ({ ended }) => pauseEndedText({ ...ended, effects: found.effects }),
    })(gateway);
  };
}

async function findPause({ ask, next }: GatewayClient, meant: PauseSelector): Promise<PauseBody | CallError> {
  const { what, version } = meant;
  const answer = await ask(LIST);
  if (answer.kind === 'failed') return answer;
  const pauses = readPausesAnswer(answer.body)?.overrides ?? [];
  const byId = version === undefined ? pauses.find(({ id }) => id === what) : undefined;
  const fitting = pauses.filter(
    (pause) => pause.api === what && (version === undefined || isOf(pause, version)),
  );
  const [only, ...others] = byId === undefined ? fitting : [byId];
  if (only === undefined) return failure(1, nothingFits(pauses, meant, next));
  if (others.length > 0) return { kind: 'failed', exitCode: 1, text: severalPausesText(fitting) };
  return only;
}

/** A pause of an API without versions has the API's name. `none` is accepted as its version. */
function isOf(pause: PauseBody, version: string): boolean {
  return pause.version === version || (version === UNVERSIONED && isUnversioned(pause));
}

function nothingFits(
  pauses: readonly PauseBody[],
  { what, version }: PauseSelector,
  next: NextCommand,
): string {
  const wider = pauses.find((pause) => pause.api === what && pause.version === null);
  if (version === undefined || wider === undefined)
    return `no pause of ${[what, version ?? []].flat().join(' ')} is in force; see ${next('pause', '--list')}`;
  return `${what} ${version} has no pause of its own. End the pause of every version of ${what}: ${next('pause', '--end', wider.id, '--why', '"…"')}`;
}

function inCommandWords(text: string): string {
  return text.replace(/"(api|version|by|why|for|until)": /g, (_, name: string) => `${WORDS[name]}: `);
}

const WORDS: Readonly<Record<string, string>> = {
  api: 'the API',
  version: 'the version',
  by: '--by',
  why: '--why',
  for: '--for',
  until: '--until',
};
