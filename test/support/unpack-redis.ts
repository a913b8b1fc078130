// Downloads Redis packages by apt on Debian or Ubuntu and unpacks them into a cache folder.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A server program and, if it was unpacked, its library folders joined by ":". */
export interface RedisProgram {
  readonly command: string;
  readonly libraryPath: string | undefined;
}

/** A server package with the package that holds its files, in order of preference. */
const SERVERS = [
  { program: 'redis-server', packages: ['redis-server', 'redis-tools'] },
  { program: 'valkey-server', packages: ['valkey-server', 'valkey-tools'] },
] as const;

/**
 * Unpacks a server below `cache` (absolute) once; later calls find it. Needs no root and does not change the
 * system. Uses its own package lists if those of the system lack the packages.
 */
export async function unpackRedis(cache: string): Promise<RedisProgram> {
  const home = join(cache, 'unpacked');
  if (!existsSync(home)) {
    await mkdir(cache, { recursive: true });
    const work = await mkdtemp(join(cache, 'work-'));
    try {
      await download(work);
      await unpack(work);
      // A rename, so that concurrent runs never see a partial folder. The second run finds the folder.
      await rename(join(work, 'root'), home).catch((error: unknown) => {
        if (!existsSync(home)) throw error;
      });
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  return workingProgram(home);
}

async function download(work: string): Promise<void> {
  const cache = join(work, 'cache');
  const lists = join(work, 'lists');
  await mkdir(join(cache, 'archives/partial'), { recursive: true });
  await mkdir(join(lists, 'partial'), { recursive: true });
  const system = ['-q', '-o', `Dir::Cache=${cache}`, '-o', 'APT::Sandbox::User=root'];
  const own = [...system, '-o', `Dir::State::Lists=${lists}`];

  const withSystemLists = await tryServers(work, system);
  if (withSystemLists === undefined) return;
  await apt(work, [...own, 'update']);
  const withOwnLists = await tryServers(work, own);
  if (withOwnLists !== undefined) throw withOwnLists;
}

/** Undefined after the packages of one server are downloaded; otherwise the error of the preferred one. */
async function tryServers(work: string, options: readonly string[]): Promise<Error | undefined> {
  let failure: Error | undefined;
  for (const { program, packages } of SERVERS) {
    try {
      const libraries = await missingLibraries(work, options, program);
      await apt(work, [...options, 'download', ...packages, ...libraries]);
      return undefined;
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }
  return failure;
}

/** The libraries that an installation would add, without those the system has. */
async function missingLibraries(work: string, options: readonly string[], name: string): Promise<string[]> {
  const plan = await apt(work, [...options, 'install', '--simulate', '--no-install-recommends', name]);
  return [...plan.matchAll(/^Inst (lib\S+)/gm)].flatMap((match) => match[1] ?? []);
}

async function unpack(work: string): Promise<void> {
  const packages = (await readdir(work)).filter((file) => file.endsWith('.deb'));
  for (const file of packages) await run('dpkg', ['-x', join(work, file), join(work, 'root')]);
}

async function workingProgram(home: string): Promise<RedisProgram> {
  const server = SERVERS.map(({ program }) => join(home, 'usr/bin', program)).find((file) =>
    existsSync(file),
  );
  if (server === undefined) throw new Error(`no server program in ${home}; remove that folder and try again`);
  const libraryPath = (await libraryFolders(home)).join(delimiter);
  await run(server, ['--version'], { env: { ...process.env, LD_LIBRARY_PATH: libraryPath } });
  return { command: server, libraryPath };
}

/** `usr/lib`, `lib` and their architecture folders, such as `x86_64-linux-gnu`. */
async function libraryFolders(home: string): Promise<string[]> {
  const tops = ['usr/lib', 'lib'].map((folder) => join(home, folder)).filter((folder) => existsSync(folder));
  const nested = await Promise.all(
    tops.map(async (top) =>
      (await readdir(top)).filter((name) => name.includes('-linux-')).map((name) => join(top, name)),
    ),
  );
  return [...nested.flat(), ...tops];
}

async function apt(cwd: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('apt-get', args, { cwd, env: { ...process.env, LC_ALL: 'C' } });
  return stdout;
}
