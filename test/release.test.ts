// The release workflow: it is off, its scripts exist, and the commands that need no GitHub work.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT, text, yaml } from './support/deployed-files.ts';

const workflow = await yaml('.github/workflows/release.yml');
const jobs = workflow.at('jobs').entries;
const steps = jobs.flatMap(([, job]) => job.at('steps').list);
const commands = steps.flatMap((step) => String(step.at('run').value ?? '').split('\n'));
const { scripts, version, license }: { scripts: object; version: string; license: string } = JSON.parse(
  await text('package.json'),
);

/** With the tag of `version`. */
function run(command: string) {
  const env = { ...process.env, GITHUB_REF_NAME: `v${version}` };
  const { status, stdout } = spawnSync('bash', ['-c', command], { cwd: ROOT, env, encoding: 'utf8' });
  return { status, stdout };
}

describe('the release workflow', () => {
  it('is off until RELEASE_IMAGE is set, and runs only for a version tag', () => {
    const [first, ...rest] = jobs.map(([, job]) => job);
    expect(first?.at('if').value).toBe("vars.RELEASE_IMAGE != ''");
    // A job whose `needs` was skipped is skipped.
    for (const job of rest) expect(job.at('needs').value).toBeDefined();
    expect(workflow.at('on').value).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } });
  });

  it('may only read, except for the jobs that push the image and publish the release', () => {
    expect(workflow.at('permissions').value).toEqual({ contents: 'read' });
    const rights = jobs.map(([name, job]) => [name, job.at('permissions').value]);
    expect(Object.fromEntries(rights)).toEqual({
      package: undefined,
      image: { contents: 'read', packages: 'write' },
      release: { contents: 'write' },
    });
    for (const step of steps.filter((each) => String(each.at('uses').value).startsWith('actions/checkout@')))
      expect(step.at('with', 'persist-credentials').value).toBe(false);
  });

  it('pins each action to a commit', () => {
    const uses = steps.flatMap((step) => step.at('uses').value ?? []);
    expect(uses).not.toEqual([]);
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  });

  it('tests before it builds, with scripts that exist', () => {
    const ran = commands.flatMap((line) => /^npm (?:run )?(\w+)/.exec(line)?.[1] ?? []);
    expect(ran).toEqual(['ci', 'typecheck', 'lint', 'test', 'build']);
    for (const script of ran.slice(1)) expect(Object.keys(scripts)).toContain(script);
  });

  it('refuses a tag that is not the version', () => {
    const check = commands.find((line) => line.startsWith('test "$GITHUB_REF_NAME"')) ?? '';
    expect(run(check).status).toBe(0);
    expect(run(`GITHUB_REF_NAME=v0.0.0; ${check}`).status).toBe(1);
  });

  it("takes the version's part of the changelog as its notes", async () => {
    const write = commands.find((line) => line.startsWith('awk ')) ?? '';
    const { stdout } = run(write.replace(/ > \S+$/, ''));
    expect(stdout).toMatch(new RegExp(`^## ${version} `));
    expect(stdout.match(/^## /gm)).toHaveLength(1);
    expect(await text('CHANGELOG.md')).toContain(stdout);
  });
});

it('the README has the licence of package.json and a link to SECURITY.md', async () => {
  const readme = await text('README.md');
  expect(readme).toContain(`\`${license}\``);
  expect(readme).toContain('(SECURITY.md)');
});
