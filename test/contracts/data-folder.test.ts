// The data folder: made for its owner, held by one process, free again however that process ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataFolderError, openDataFolder } from '../../gateway/stores/embedded/data-folder.ts';

const module = new URL('../../gateway/stores/embedded/data-folder.ts', import.meta.url).href;

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sundial-data-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function refusal(folder: string): DataFolderError {
  try {
    openDataFolder(folder).close();
  } catch (error) {
    if (error instanceof DataFolderError) return error;
    throw error;
  }
  return expect.fail('the folder was opened');
}

describe('the data folder', () => {
  it('is created with its parents, for its owner only', () => {
    const folder = join(base, 'a/data');
    openDataFolder(folder).close();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  const modes = (folder: string) =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]));

  it('holds a database for its owner only, and so the journal that is made beside it', () => {
    const folder = join(base, 'data');
    const umask = process.umask(0);
    try {
      openDataFolder(folder).close();
      expect(modes(folder)).toEqual({ 'sundial.db': 0o600 });
      const database = new DatabaseSync(join(folder, 'sundial.db'));
      database.exec('BEGIN; CREATE TABLE t (a);');
      expect(modes(folder)).toEqual({ 'sundial.db': 0o600, 'sundial.db-journal': 0o600 });
      database.close();
    } finally {
      process.umask(umask);
    }
  });

  it('takes the database of an earlier edition away from others, and stays held meanwhile', () => {
    const folder = join(base, 'data');
    mkdirSync(folder);
    writeFileSync(join(folder, 'sundial.db'), '');
    chmodSync(join(folder, 'sundial.db'), 0o644);
    const held = openDataFolder(folder);
    expect(modes(folder)['sundial.db']).toBe(0o600);
    expect(refusal(folder).code).toBe('data_folder_locked');
    expect(refusal(folder).code).toBe('data_folder_locked');
    held.close();
  });

  it('is held by one: a second opening says what to do, and works after the first has closed', () => {
    const folder = join(base, 'data');
    const held = openDataFolder(folder);
    const { code, message } = refusal(folder);
    expect(code).toBe('data_folder_locked');
    expect(message).toContain(folder);
    expect(message).toContain('another Sundial process');
    held.close();
    openDataFolder(folder).close();
  });

  it('stays held while nobody refers to it, and is free again after its process was killed with SIGKILL', async () => {
    const folder = join(base, 'data');
    const script = `import { openDataFolder } from ${JSON.stringify(module)};
      openDataFolder(process.argv[1]);
      gc();
      setTimeout(() => process.stdout.write('held'), 1);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script, folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    try {
      await Promise.race([once(child.stdout, 'data'), ended]);
      expect(refusal(folder).code).toBe('data_folder_locked');
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    openDataFolder(folder).close();
  });

  it('a file in its place is an error with the path and the reason', () => {
    const file = join(base, 'file');
    writeFileSync(file, '');
    const { code, message } = refusal(file);
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain(file);
  });

  it('a damaged database is an error with the path and the reason', () => {
    writeFileSync(join(base, 'sundial.db'), 'this is no database, whatever its name says'.repeat(100));
    chmodSync(join(base, 'sundial.db'), 0o600);
    const { code, message } = refusal(base);
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain('not a database');
  });
});
