// The command as a process: exit codes of `run` if it cannot start, and `--version`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, '../../../gateway/sundial.js');
const elsewhere = (cwd: string) =>
  `       | this is ${cwd}: change to the folder of the project, name the file with -c or SUNDIAL_CONFIG, ` +
  'or write a first one with `sundial init --service <url>`\n';

it('exits with 2 if the gateway file cannot be read', { timeout: 20_000 }, () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, 'run', '-c', 'nowhere/gateway.yaml'],
    {
      encoding: 'utf8',
    },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    `nowhere/gateway.yaml:1:1: error: cannot read: no such file\n${elsewhere(process.cwd())}sundial: not started: 1 error in nowhere/gateway.yaml\n`,
  );
});

it('--version prints the version', { timeout: 20_000 }, () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  const { status, stdout } = spawnSync(process.execPath, [MAIN, '--version'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${version}\n` });
});

it('an empty SUNDIAL_CONFIG counts as unset', { timeout: 20_000 }, () => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'run'], {
    cwd: import.meta.dirname,
    env: { ...process.env, SUNDIAL_CONFIG: '' },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `config/gateway.yaml:1:1: error: cannot read: no such file\n${elsewhere(import.meta.dirname)}sundial: not started: 1 error in config/gateway.yaml\n`,
  });
});
