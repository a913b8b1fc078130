// `npm run test:browser [word]`: runs the scenarios whose name has `word` in a real Chromium before one demo.
import { glob } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { type BrowserDemo, startBrowserDemo } from './support/demo.ts';
import { findChromium } from './support/find-chromium.ts';
import type { Scenario } from './support/scenario.ts';

const WHOLE_MS = 240_000;
const STEP_MS = 15_000;

const executablePath = findChromium(process.env);
if (executablePath === undefined) {
  process.stderr.write('test:browser needs Chromium: apt-get install chromium, or CHROMIUM=<path>\n');
  process.exit(1);
}
setTimeout(() => {
  process.stderr.write(`test:browser takes longer than ${WHOLE_MS / 1000} s\n`);
  process.exit(1);
}, WHOLE_MS).unref();

const word = process.argv[2] ?? '';
const scenarios = (await readScenarios()).filter(({ name }) => name.includes(word));
if (scenarios.length === 0) {
  process.stderr.write(`no scenario has "${word}" in its name\n`);
  process.exit(1);
}
let failed = 0;
{
  await using demo = await startBrowserDemo();
  // Chromium's sandbox needs a user other than root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  await using browser = await chromium.launch({ executablePath, args });
  for (const scenario of scenarios) if (!(await passes(scenario, browser, demo))) failed += 1;
}
process.stdout.write(`${scenarios.length - failed} of ${scenarios.length} scenarios pass\n`);
process.exit(failed === 0 ? 0 : 1);

async function readScenarios(): Promise<readonly Scenario[]> {
  const files: string[] = [];
  for await (const file of glob(join(import.meta.dirname, '*.ts'))) {
    if (file !== import.meta.filename) files.push(file);
  }
  const read = files.toSorted().map(async (file) => {
    const module: { readonly scenarios?: readonly Scenario[] } = await import(file);
    if (module.scenarios === undefined) throw new Error(`${basename(file)} exports no scenarios`);
    return module.scenarios;
  });
  return (await Promise.all(read)).flat();
}

async function passes({ name, run }: Scenario, browser: Browser, demo: BrowserDemo): Promise<boolean> {
  const began = performance.now();
  // The demo has a self-signed certificate.
  await using context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const noted: string[] = [];
  page.on('console', (message) => noted.push(message.text()));
  try {
    await run({ demo, context, page });
    process.stdout.write(`ok      ${name} (${Math.round(performance.now() - began)} ms)\n`);
    return true;
  } catch (error) {
    const text = await page
      .locator('body')
      .textContent({ timeout: 1000 })
      .catch(() => '');
    process.stdout.write(
      `FAILED  ${name}\n${error instanceof Error ? (error.stack ?? error.message) : error}\n`,
    );
    process.stdout.write(`        at ${page.url()}\n${[text ?? '', ...noted].join('\n')}\n`);
    return false;
  }
}
