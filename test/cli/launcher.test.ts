// The launcher in a project of its own, with any packages and any Node.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const LAUNCHER = join(import.meta.dirname, '../../gateway/sundial.js');
const { NODE_COMPILE_CACHE: _cache, ...environment } = process.env;
const OLD_NODE = ['--require', join(import.meta.dirname, 'fake-version.cjs')];

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'sundial-launcher-'));
  mkdirSync(join(project, 'gateway'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  copyFileSync(LAUNCHER, join(project, 'gateway/sundial.js'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function launch(nodeArguments: readonly string[], ...more: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...nodeArguments, join(project, 'gateway/sundial.js'), ...more],
    { encoding: 'utf8', env: environment },
  );
  return { status, stdout, stderr };
}

function bundleNode(script: string): void {
  const folder = join(project, 'node_modules/node/bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'node'), script);
  chmodSync(join(folder, 'node'), 0o755);
}

const ONE_LINE = /^[^\n]+\n$/;

describe('the launcher', () => {
  it('is executable and starts with a Node shebang', () => {
    expect(statSync(LAUNCHER).mode & 0o111).toBe(0o111);
    expect(readFileSync(LAUNCHER, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('stores compiled code below node_modules/.cache for the next start', () => {
    writeFileSync(join(project, 'gateway/main.ts'), 'const done: number = 0; process.exitCode = done;');
    expect(launch([])).toEqual({ status: 0, stdout: '', stderr: '' });
    const [version = ''] = readdirSync(join(project, 'node_modules/.cache/sundial'));
    expect(readdirSync(join(project, 'node_modules/.cache/sundial', version))).not.toEqual([]);
  });

  it('passes its arguments unchanged to main.ts', () => {
    writeFileSync(
      join(project, 'gateway/main.ts'),
      'const rest: string[] = process.argv.slice(2); console.log(rest.join());',
    );
    expect(launch([], 'check', '--at')).toEqual({ status: 0, stdout: 'check,--at\n', stderr: '' });
  });

  it('prints one line under an older Node, and does not load main.ts', () => {
    writeFileSync(join(project, 'gateway/main.ts'), 'console.log("read")');
    const { status, stdout, stderr } = launch(OLD_NODE, 'run');
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain('API gateway, needs Node 26 and this is 20.19.5: install Node 26, or');
    expect(stderr).toContain('`npm ci`, then `npm start` or `npx sundial …`');
  });

  it('prints one line if the packages are missing', () => {
    writeFileSync(join(project, 'gateway/main.ts'), "import 'a-package-that-is-not-there';");
    const { status, stderr } = launch([], 'run');
    expect(status).toBe(2);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain('lacks its packages');
  });

  it('does not hide other errors of main.ts', () => {
    writeFileSync(join(project, 'gateway/main.ts'), "import './not-there.ts';");
    const { status, stderr } = launch([], 'run');
    expect(status).toBe(1);
    expect(stderr).toContain('not-there.ts');
  });
});

describe('the probe after the installation', () => {
  const GOOD = '#!/bin/sh\necho v26.10.0\n';

  it.each([
    ['an old', OLD_NODE],
    ['a new', []],
  ])('prints nothing under %s Node if the bundled Node starts', (_, nodeArguments) => {
    bundleNode(GOOD);
    expect(launch(nodeArguments, '--probe')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it.each([
    [
      'glibc',
      'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory',
    ],
    ['musl', 'Error loading shared library libatomic.so.1: No such file or directory (needed by node)'],
  ])('names the package of libatomic if the %s loader does not find it', (_, message) => {
    bundleNode(`#!/bin/sh\necho '${message}' >&2\nexit 127\n`);
    const { status, stderr } = launch(OLD_NODE, '--probe');
    expect(status).toBe(1);
    expect(stderr).toMatch(ONE_LINE);
    for (const cure of ['apt-get install libatomic1', 'dnf install libatomic', 'apk add libatomic']) {
      expect(stderr).toContain(cure);
    }
  });

  it.each([
    ['made for another system', '#!/not/there\n', 'ENOENT'],
    ['older than needed', '#!/bin/sh\necho v20.1.0\n', 'v20.1.0'],
    ['broken otherwise', '#!/bin/sh\necho "GLIBC_2.38 not found" >&2\nexit 1\n', 'GLIBC_2.38 not found'],
  ])('says why a bundled Node that is %s cannot be used', (_, script, reason) => {
    bundleNode(script);
    const { status, stderr } = launch([], '--probe');
    expect(status).toBe(1);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain(`(${reason})`);
    expect(stderr).toContain('npm ci --omit=dev');
  });

  it('asks for Node 26 if no Node is bundled and the running one is older', () => {
    const { status, stderr } = launch(OLD_NODE, '--probe');
    expect(status).toBe(1);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain('allowScripts');
    expect(stderr).toContain('or install Node 26');
  });

  it('needs no bundled Node if the running one is new enough', () => {
    expect(launch([], '--probe')).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
