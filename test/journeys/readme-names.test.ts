// The README and the project agree on files, printed problems, refusals, commands, variables and paths.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { referencePages } from '../../build/reference/pages.ts';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { operateIn } from '../support/guide.ts';
import { printHelp } from '../support/program-help.ts';
import { FILES, openWorkspace, type Workspace } from '../support/readme-demo.ts';
import { statusesOfFaults, statusesOfRefusals } from '../support/readme-refusals.ts';
import {
  PAGES,
  ROOT,
  readPage,
  readReadme,
  shellLines,
  tablesOf,
  writtenPorts,
} from '../support/readme-text.ts';

const readme = readReadme();
const lines = shellLines(readme);
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace(FILES);
});
afterAll(() => workspace[Symbol.asyncDispose]());

describe('a file in the README', () => {
  it('is a valid policy', async () => {
    const shown = readme.blocks.filter(({ language }) => language === 'yaml');
    expect(shown).not.toEqual([]);
    for (const { text } of shown) {
      const file = join(workspace.folder, 'policies/shown.yaml');
      writeFileSync(file, text);
      const options = { files: [file], configFile: join(ROOT, 'config/gateway.yaml'), strict: true } as const;
      const surroundings = { environment: {}, now: Date.UTC(2026, 10, 20), colour: false };
      const result = await runCheck({ ...options, ...surroundings, format: 'json' });
      const { problems, notices = [] } = JSON.parse(result.text);
      expect(problems).toEqual([]);
      // An announcement in the future is no problem.
      for (const { rule } of notices) expect(rule).toBe('not-announced');
    }
  });

  it('is a valid gateway file, apart from its certificates', async () => {
    const shown = readme.blocks.filter(({ language }) => language === 'yaml gateway');
    expect(shown).not.toEqual([]);
    for (const { text } of shown) {
      const file = join(workspace.folder, 'config/shown.yaml');
      writeFileSync(file, `${text.replace(/^policies:.*\n/m, '')}policies: ./none/*.yaml\n`);
      const surroundings = { environment: {}, now: Date.UTC(2026, 10, 20), colour: false };
      const result = await runCheck({
        configFile: file,
        files: [],
        strict: true,
        ...surroundings,
        format: 'json',
      });
      const { problems }: { problems: { rule: string }[] } = JSON.parse(result.text);
      expect(problems.filter(({ rule }) => rule !== 'certificate')).toEqual([
        expect.objectContaining({ message: 'no policy file matches this pattern' }),
      ]);
    }
  });

  it('gets from `check` the output that the README shows', async () => {
    const shown =
      readme.blocks.find(({ text }) => /^policies\/.* policy files: \d+ errors\n$/s.test(text))?.text ?? '';
    await using other = await openWorkspace();
    expect(other.sundial('check')).toMatchObject({ code: 0, stderr: '' });
    const file = join(other.folder, 'policies/orders.yaml');
    const wrong = readFileSync(file, 'utf8').split('\n');
    for (const [, number, text = ''] of shown.matchAll(/^ *(\d+) \| (.*)$/gm))
      wrong[Number(number) - 1] = text;
    writeFileSync(file, wrong.join('\n'));
    expect(other.sundial('check')).toEqual({ code: 1, stdout: shown, stderr: '' });
  });
});

describe('a command in the README', () => {
  const printing = [...new Set(lines)].filter((line) =>
    /^npx sundial (explain|timeline|diff|extend) /.test(line),
  );
  const silent = lines.filter((line) => /^npx sundial (openapi|init) /.test(line));

  it('is shown with its output four times', () => expect(printing).toHaveLength(4));

  it.each(printing)('prints the shown output: %s', async (line) => {
    await using other = await openWorkspace(FILES);
    await addReleased(other.folder);
    const { exitCode, stdout } = await operateIn(other.folder, line);
    expect(exitCode).toBe(0);
    expect(readme.blocks.map(({ text }) => text)).toContain(stdout);
  });

  it.each(silent)('exits with 0: %s', async (line) => {
    await using other = await openWorkspace(FILES);
    const ran = await operateIn(other.folder, line.replace(/ +#.*/, ''));
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('names in the README', () => {
  it('are all refusals and faults of the reference, with their statuses', () => {
    const { text = '' } = referencePages().find(({ file }) => file === 'errors.md') ?? {};
    const [refusals, faults] = text.split('\n## Faults\n').map((part) => {
      const rows = tablesOf(part.split('\n')).get('reason') ?? [];
      return new Map(
        rows.map(([reason = '', statuses = '']) => [
          reason.replaceAll('`', ''),
          new Set(Array.from(statuses.matchAll(/\d{3}/g), Number)),
        ]),
      );
    });
    expect(refusals).toEqual(statusesOfRefusals());
    const answered = [...(faults?.values() ?? [])].flatMap((statuses) => [...statuses]);
    expect(new Set(answered)).toEqual(statusesOfFaults());
  });

  it('are all pages of the admin API', () => {
    const sources = globSync('gateway/admin/**/*.ts', { cwd: ROOT }).map((file) =>
      readFileSync(join(ROOT, file), 'utf8'),
    );
    const pagesIn = (text: string) => Array.from(text.matchAll(/\/-\/(\w+)/g), ([, page = '']) => page);
    const named = (readme.tables.get('admin request') ?? []).flatMap(([request = '']) => pagesIn(request));
    const probes = ['healthy', 'ready'];
    expect(new Set([...named, ...probes])).toEqual(new Set(sources.flatMap(pagesIn)));
  });

  // Tests run these: those above, `pause`, `pin` and `notify` with the demo, `npm` in install.test.ts.
  const isRun = (line: string) =>
    /^(npx sundial (explain|timeline|diff|extend|openapi|pause|pin|notify)|npm (pack|install))\b/.test(line);
  const commands = [
    ...lines.filter((line) => !isRun(line)).flatMap((line) => line.split(' && ')),
    ...readme.spans,
  ]
    .map((text) => text.replace(/^(?:\w+=\S+ )+/, ''))
    .filter((text) => /^(npm|npx|node) /.test(text));

  it.each([...new Set(commands)])('are existing commands: %s', async (command) => {
    const words = command.split(/\s+/);
    if (words[0] === 'npx' && words[1] === 'node') expect(existsSync(join(ROOT, words[2] ?? ''))).toBe(true);
    else if (words[0] === 'npx') {
      expect(words[1]).toBe('sundial');
      const [name = '', below = ''] = words.slice(2);
      const whole = await printHelp([name]);
      const isGroup = new RegExp(`^Commands:\\n(?: .*\\n)* +${below} `, 'm').test(whole.stdout);
      const help = isGroup ? await printHelp([name, below]) : whole;
      expect(help.code).toBe(0);
      expect(help.stdout).toContain(`Usage: sundial ${isGroup ? `${name} ${below}` : name}`);
      for (const option of words.filter((word) => word.startsWith('--')))
        expect(help.stdout).toContain(option);
    } else if (words[0] === 'npm') {
      const script = words[1] === 'run' ? words.slice(2).find((word) => !word.startsWith('-')) : words[1];
      if (script === 'ci') expect(existsSync(join(ROOT, 'package-lock.json'))).toBe(true);
      else expect(Object.keys(scripts)).toContain(script);
    } else expect(command, 'the node of a user may be too old for it').toMatch(/^npx /);
  });

  it('are all variables that are read, with their ports', () => {
    const sources = globSync('{gateway,upstreams,config,policies}/**/*.{ts,js,yaml}', { cwd: ROOT });
    const texts = sources.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
    const variablesIn = (text: string) => new Set(text.match(/\bSUNDIAL_[A-Z0-9_]+/g));
    expect(variablesIn(readme.prose)).toEqual(variablesIn(texts));
    // Set where the gateway reads the variable, or in a service that the gateway does not know.
    const defaults = Array.from(
      texts.matchAll(/(?:\$\{env:|variable: ')(SUNDIAL_\w+_PORT)(?::-|',\s+fallback: )(\d+)/g),
      ([, name = '', port]) => [name, Number(port)],
    );
    expect(new Map([...writtenPorts(readme)].sort())).toEqual(new Map(defaults.sort() as [string, number][]));
  });

  it('are existing files and folders', () => {
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
    // Neither a rate such as 600/1m nor a media type.
    const paths = readme.spans.filter(
      (span) => /^\.?[\w.*-]+(\/[\w.*-]*)+$/.test(span) && !/^(?:\d|application\/)/.test(span),
    );
    expect(paths).toEqual(expect.arrayContaining(['policies/', 'test/architecture.test.ts']));
    for (const path of paths) {
      const made = ignored.includes(`/${path.replace(/^\.\//, '').split('/')[0]}/`);
      expect(made || globSync(path, { cwd: ROOT }).length > 0, path).toBe(true);
    }
  });

  it('are existing pages and headings in links', () => {
    for (const page of PAGES) {
      for (const [, target = ''] of readPage(page).matchAll(/\]\(([^)]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [path = '', heading] = target.split('#');
        const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
        expect(existsSync(file), `${page}: ${target}`).toBe(true);
        if (heading !== undefined) expect(headingsOf(file), `${page}: ${target}`).toContain(heading);
      }
    }
  });

  it('are all pages of docs/, on its first page', () => {
    const first = readPage('docs/README.md');
    for (const page of PAGES.filter((each) => each.startsWith('docs/') && each !== 'docs/README.md'))
      expect(first, page).toContain(`](${page.replace('docs/', '')})`);
  });

  it('are pictures of full width and small size', () => {
    const shown = PAGES.flatMap((page) => {
      const found = readPage(page).matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g);
      return Array.from(found, ([, words = '', path = '']) => ({
        words,
        file: join(ROOT, dirname(page), path),
      }));
    });
    expect([...new Set(shown.map(({ file }) => file))].sort()).toEqual(
      globSync(join(ROOT, 'test/browser/screenshots/*.png')).sort(),
    );
    for (const { words, file } of shown) {
      const bytes = readFileSync(file);
      expect(bytes.toString('latin1', 1, 4), file).toBe('PNG');
      expect(bytes.readUInt32BE(16), file).toBe(1280);
      expect(bytes.length, file).toBeLessThan(150_000);
      expect(words.length, file).toBeGreaterThan(20);
    }
  });

  it('are all folders of the gateway', () => {
    const plan = readme.blocks.find(({ section }) => section === 'The parts')?.text ?? '';
    const folders = ['', 'gateway'];
    for (const line of plan.split('\n')) {
      const names = line.match(/(?<=^|\s)[\w-]+(?:\/|\.ts)(?=[\s:,]|$)/g) ?? [];
      const parents = [...folders, ...names.flatMap((name) => [name, join('gateway', name)])];
      for (const name of names) {
        expect(
          parents.some((parent) => existsSync(join(ROOT, parent, name))),
          `${name} in: ${line}`,
        ).toBe(true);
      }
    }
    for (const { name } of foldersOfTheGateway()) expect(plan).toMatch(new RegExp(`^ .*\\b${name}/`, 'm'));
  });
});

/** The policies of an earlier day, for comparison with the current samples. */
async function addReleased(folder: string): Promise<void> {
  for (const part of ['policies', 'upstreams'])
    await cp(join(folder, part), join(folder, 'released', part), { recursive: true });
  const file = join(folder, 'released/policies/orders.yaml');
  const text = readFileSync(file, 'utf8')
    .replace(/^ {4}extended:\n.*\n/m, '')
    .replace(/^ {4}brownouts:.*\n.*\n/m, '')
    .replace('deprecated: 60/1m', 'deprecated: 120/1m');
  writeFileSync(file, text);
}

/** The anchors that GitHub makes of the headings. */
function headingsOf(file: string, form = /^#+ (.+)$/gm): readonly string[] {
  const headings = readFileSync(file, 'utf8').matchAll(form);
  return Array.from(headings, ([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}

function foldersOfTheGateway(): readonly { readonly name: string }[] {
  return globSync('gateway/*', { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isDirectory());
}
