// Tests of an embedded store whose files are removed or not writable: no write is lost silently.
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDataFolder } from '../../gateway/stores/embedded/data-folder.ts';

const away = { code: 'store_unavailable' };
const patient = { timeout: 10_000, interval: 20 };

let base: string;
let folder: string;
let states: boolean[];
let reported: string[];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sundial-lost-'));
  folder = join(base, 'data');
  states = [];
  reported = [];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const open = () =>
  openDataFolder(folder, {
    onState: (up) => states.push(up),
    onFault: (error) => reported.push(String(error)),
    onRefused: (reason) => reported.push(reason),
  });

describe('files removed under a running gateway', () => {
  const database = () => join(folder, 'sundial.db');
  it.each([
    ['the folder', () => rmSync(folder, { recursive: true })],
    ['the folder, moved elsewhere,', () => renameSync(folder, join(base, 'moved'))],
    ['the database', () => rmSync(database())],
    [
      'the database, with another in its place,',
      () => {
        copyFileSync(database(), join(base, 'copy'));
        renameSync(join(base, 'copy'), database());
      },
    ],
    [
      'the folder, with an empty one in its place,',
      () => {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
      },
    ],
  ])('%s: the next write is refused and reported, and the store stays unavailable', async (_what, take) => {
    const held = await open();
    await held.database.call('claimPin', 'kept', 'x');
    take();
    await expect(held.database.call('claimPin', 'lost', 'x')).rejects.toMatchObject(away);
    await vi.waitFor(() => expect(states).toEqual([true, false]), patient);
    const gone = `Error: ${folder}/sundial.db was removed or replaced while it was open`;
    await vi.waitFor(
      () => expect(reported.filter((each) => each.startsWith(gone)).length).toBeGreaterThan(0),
      patient,
    );
    await vi.waitFor(() => expect(reported.join()).toContain('restart the gateway'), patient);
    await expect(held.database.call('claimPin', 'lost', 'x')).rejects.toMatchObject(away);
    expect(states).toEqual([true, false]);
    await held.close();
  });

  it('the log beside the database: a write is refused, and the database reopens without loss', async () => {
    const held = await open();
    await held.database.call('claimPin', 'kept', 'x');
    rmSync(`${database()}-wal`);
    await expect(held.database.call('claimPin', 'refused', 'x')).rejects.toMatchObject(away);
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
    expect(reported.join()).toContain('sundial.db-wal was removed or replaced while it was open');
    expect(await held.database.call('findPin', 'kept')).toBe('x');
    await held.close();
  });

  it.each([
    ['the database', 'sundial.db', 'is not a database|malformed|damaged|\\*\\*\\*'],
    ['the log beside it', 'sundial.db-wal', ''],
  ])(
    '%s, overwritten in place: every acknowledged write is found at the next start',
    async (_what, name, reason) => {
      const held = await open();
      await held.database.call('claimPin', 'kept', 'x');
      writeFileSync(join(folder, name), 'not what was there');
      await expect(held.database.call('claimPin', 'refused', 'x')).rejects.toMatchObject(away);
      await vi.waitFor(() => expect(states.slice(0, 2)).toEqual([true, false]), patient);
      expect(reported.join()).toContain(`${name} was removed or replaced while it was open`);
      await vi.waitFor(() => expect(reported.join()).toMatch(new RegExp(reason)), patient);
      await held.close();
    },
  );

  it('a folder that is moved back is used again', async () => {
    const held = await open();
    await held.database.call('claimPin', 'kept', 'x');
    renameSync(folder, join(base, 'moved'));
    await expect(held.database.call('claimPin', 'lost', 'x')).rejects.toMatchObject(away);
    renameSync(join(base, 'moved'), folder);
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
    expect(await held.database.call('findPin', 'kept')).toBe('x');
    expect(await held.database.call('claimPin', 'new', 'y')).toBe('y');
    await held.close();
  });
});

describe('a call that SQLite refuses', () => {
  it('makes the store unavailable until a probe write succeeds', async () => {
    const held = await open();
    const refused = held.database.call('claimPin', 'bad', null as unknown as string);
    await expect(refused).rejects.toMatchObject(away);
    expect(states).toEqual([true, false]);
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
    await held.close();
  });
});

describe("a database that is not Sundial's", () => {
  it('with other tables is reported as damaged', async () => {
    mkdirSync(folder);
    const other = new DatabaseSync(join(folder, 'sundial.db'));
    other.exec('CREATE TABLE other (x); PRAGMA user_version = 1');
    other.close();
    await expect(open()).rejects.toThrow(`${folder}/sundial.db is damaged: no such table: pin`);
  });

  it('a file in place of the folder or above it is reported as such', async () => {
    writeFileSync(folder, '');
    const words = ' cannot be created: its path, or a parent of it, is a file; configure another data folder';
    await expect(open()).rejects.toThrow(`the data folder ${folder}${words}`);
    folder = join(folder, 'below');
    await expect(open()).rejects.toThrow(`the data folder ${folder}${words}`);
  });

  it('a file that cannot be opened is named, with the permissions it needs', async () => {
    mkdirSync(join(folder, 'sundial.db'), { recursive: true });
    writeFileSync(join(folder, 'sundial.db', 'x'), '');
    await expect(open()).rejects.toThrow(
      /data folder .* cannot be used: unable to open database file; this user must be able to write to it and to sundial\.db/,
    );
  });
});
