// `npm run screenshots`: takes the pictures of the README from a demo with a month of calls; needs Chromium.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type APIRequestContext, chromium, type Page } from 'playwright-core';
import { SAMPLE_CLIENT_SECRETS } from '../../../upstreams/identity/sample-secrets.ts';
import { type BrowserDemo, startBrowserDemo } from '../support/demo.ts';
import { findChromium } from '../support/find-chromium.ts';
import { seedLedger } from './seed.ts';

const TODAY = Date.UTC(2026, 10, 20);
const VIEW = { width: 1280, height: 800 };
/** Margin in pixels above and below the shown part. */
const EDGE = 16;
const MAX_BYTES = 150_000;

const executablePath = findChromium(process.env);
if (executablePath === undefined) {
  process.stderr.write('the pictures need Chromium: apt-get install chromium, or CHROMIUM=<path>\n');
  process.exit(1);
}

await using demo = await startBrowserDemo({ prepare: (folder) => seedLedger(folder, TODAY) });
// Grey instead of coloured subpixels in text: pictures are smaller, and look alike on every screen.
const args = ['--disable-lcd-text', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
await using browser = await chromium.launch({ executablePath, args });
await using context = await browser.newContext({
  ...{ ignoreHTTPSErrors: true, viewport: VIEW, locale: 'en-GB', timezoneId: 'UTC', colorScheme: 'light' },
});
await callSamples(context.request, demo);
const page = await context.newPage();
await take(page, '/dashboard/', { from: 'header', until: 'All versions' });
await take(page, '/dashboard/version?api=orders&version=v1', { from: 'main', until: 'Consumers' });

/** Calls the demo, mostly its current versions. */
async function callSamples(request: APIRequestContext, { gateway }: BrowserDemo): Promise<void> {
  const calls: readonly (readonly [client: string, path: string, times: number])[] = [
    ['acme', '/api/v2/orders', 41],
    ['acme', '/api/v1/orders', 9],
    ['globex', '/api/v1/orders', 14],
    ['globex', '/api/payments', 12],
    ['acme', '/api/payments', 6],
    ['initech', '/api/v2/catalog', 28],
    ['initech', '/api/v1/catalog', 3],
  ];
  for (const [client, path, times] of calls) {
    const form = {
      grant_type: 'client_credentials',
      client_id: client,
      client_secret: SAMPLE_CLIENT_SECRETS[client] ?? '',
    };
    const granted = await request.post(`${gateway}/auth/token`, { form });
    const { access_token: token } = await granted.json();
    for (let time = 0; time < times; time += 1) {
      const answer = await request.get(gateway + path, { headers: { authorization: `Bearer ${token}` } });
      assert.ok([200, 410].includes(answer.status()), `${path}: ${answer.status()}`);
    }
  }
}

/** From the top of an element to the end of the section with this heading. */
async function take(
  page: Page,
  path: string,
  { from, until }: { readonly from: string; readonly until: string },
): Promise<void> {
  await page.goto(demo.admin + path);
  const section = page.locator('section', { has: page.getByRole('heading', { name: until, exact: true }) });
  // The ledger stores these calls within a second, and the page polls.
  await page.getByRole('cell', { name: 'just now' }).first().waitFor();
  const [first, last] = [await page.locator(from).first().boundingBox(), await section.boundingBox()];
  assert.ok(first !== null && last !== null);
  const name = `${new URL(page.url()).pathname.split('/').at(-1) || 'overview'}.png`;
  const file = join(import.meta.dirname, name);
  const top = Math.max(0, Math.floor(first.y - EDGE));
  const clip = { x: 0, y: top, width: VIEW.width, height: Math.ceil(last.y + last.height + EDGE) - top };
  await page.screenshot({ path: file, fullPage: true, clip });
  const { size } = await stat(file);
  process.stdout.write(`${name}: ${clip.width} x ${clip.height}, ${size} bytes\n`);
  assert.ok(size < MAX_BYTES, `${name} is too large for a page`);
}
