// `sundial restore`: replaces the state with a backup while the gateway is stopped.
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { hasSettings, loadAll } from '../../plan/load.ts';
import { renderProblems } from '../../plan/problems.ts';
import type { ApartResult } from '../command-result.ts';
import { type CommandSetting, configOption, filesOf, NO_TERMINAL, withCalls } from '../command-setting.ts';
import { printable } from '../terminal-text.ts';

const CALLS = `Usual calls:
  sundial restore data/backups/2026-11-20T03-00-00.000Z.db
  sundial restore --yes /mnt/backups/sundial.db     without being asked`;

type Setting = Pick<CommandSetting, 'confirm' | 'restoreBackup' | 'now'>;

/** Exit code 1 if the operator declines or the backup is unusable, 2 if there is none. The state is then unchanged. */
export function addRestoreCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('restore'), CALLS)
    .description(
      'put a backup in the place of the state; the gateway must be stopped, and API keys stay as they are now',
    )
    .argument('<file>', 'the backup')
    .addOption(configOption())
    .option('--yes', 'restore without being asked', false)
    .action(async (file, { yes, ...rest }) => {
      await setting.end(restore(file, yes, setting, filesOf(setting, rest)));
    });
}

async function restore(
  backup: string,
  yes: boolean,
  { confirm, restoreBackup, now }: Setting,
  files: Parameters<typeof loadAll>[0],
): Promise<ApartResult> {
  const loaded = await loadAll(files);
  if (!hasSettings(loaded))
    return failure(1, renderProblems(loaded.problems, { colour: false }), 'the gateway file has errors');
  const { store } = loaded.settings;
  if (store.kind === 'redis') return failure(1, '', 'the state is in Redis: restore it there');
  if (!existsSync(backup)) return failure(2, '', `cannot read ${backup}: no such file`);
  if (!yes) {
    const isConfirmed = confirm();
    if (isConfirmed === undefined) return failure(2, '', NO_TERMINAL);
    if (!(await isConfirmed(`Replace the state in ${printable(store.folder)} by ${printable(backup)}?`)))
      return failure(1, '', 'nothing was restored');
  }
  try {
    const { former, keptKeys } = await restoreBackup(store.folder, backup, now());
    const kept = former === undefined ? '' : `The former state is kept as ${former} in the data folder.\n`;
    const lost = former === undefined ? 'There was no former state' : 'The former state cannot be read';
    const keys = keptKeys
      ? ''
      : `${lost}: keys that were revoked since the backup are valid again. Revoke them.\n`;
    return { exitCode: 0, stdout: `Restored. ${kept}`.trimEnd().concat('\n'), stderr: keys };
  } catch (error) {
    return failure(1, '', error instanceof Error ? error.message : String(error));
  }
}

function failure(exitCode: 1 | 2, problems: string, sentence: string): ApartResult {
  return { exitCode, stdout: '', stderr: `${problems}sundial: ${printable(sentence)}\n` };
}
