// Long lists on the dashboard: search, filters, order and pages in the URL, and the page of an unknown URL.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { shown, tabTo } from './support/operator.ts';
import type { Scenario } from './support/scenario.ts';

const APIS = 60;
const PAGES = [
  '/dashboard/',
  '/dashboard/version?api=orders&version=v1',
  '/dashboard/consumer',
  '/dashboard/limits',
  '/dashboard/upstreams',
  '/dashboard/webhooks',
  '/dashboard/configuration',
  '/dashboard/nowhere',
];

/** Responds with the gateway's versions of the API orders for sixty APIs. */
async function sixtyApis(page: Page): Promise<void> {
  await page.route('**/-/versions', async (route) => {
    const response = await route.fetch();
    const told: { apis: { api: string; versions: object[] }[] } = await response.json();
    const orders = told.apis.find(({ api }) => api === 'orders') ?? assert.fail('the demo has no orders');
    const apis = Array.from({ length: APIS }, (_, index) => {
      const api = `api-${String(index).padStart(2, '0')}`;
      return { ...orders, api, versions: orders.versions.map((version) => ({ ...version, api })) };
    });
    await route.fulfill({ response, json: { ...told, noticeDays: 180, apis } });
  });
}

const names = async (page: Page) => page.locator('.timeline .name').allTextContents();

export const scenarios: readonly Scenario[] = [
  {
    name: 'Lists: sixty APIs make a short page, and a search narrows them',
    async run({ demo, page }) {
      await sixtyApis(page);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${demo.admin}/dashboard/`);
      await shown(page);
      assert.equal((await names(page)).length, 20);
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      assert.ok(height < 3_000, `${height} px`);
      await page.getByRole('searchbox', { name: 'Search versions' }).first().fill('API-07');
      await page.getByText('3 of 180 versions').waitFor();
      assert.deepEqual(await names(page), ['api-07 v0', 'api-07 v1', 'api-07 v2']);
      await page.getByRole('combobox', { name: 'Stage' }).first().selectOption('deprecated');
      await page.getByText('1 of 180 versions').waitFor();
      assert.deepEqual(await names(page), ['api-07 v1']);
      assert.equal(new URL(page.url()).search, '?q=API-07&stage=deprecated');
      await page.getByRole('searchbox', { name: 'Search versions' }).first().fill('nothing');
      await page.getByText('No versions match.').waitFor();
    },
  },
  {
    name: 'Lists: a URL shows the same rows again, and Back shows the previous rows',
    async run({ demo, page }) {
      await sixtyApis(page);
      await page.goto(`${demo.admin}/dashboard/?q=api-1&page=2&sort=-sunset`);
      await shown(page);
      const second = await names(page);
      assert.equal(second.length, 10);
      assert.ok(await page.getByText('21–30 of 30').isVisible());
      assert.equal(
        await page.getByRole('searchbox', { name: 'Search versions' }).first().inputValue(),
        'api-1',
      );
      await page.getByRole('navigation', { name: 'Pages of versions' }).getByText('Previous').click();
      await page.getByText('1–20 of 30').waitFor();
      assert.notDeepEqual(await names(page), second);
      await page.goBack();
      await page.getByText('21–30 of 30').waitFor();
      assert.deepEqual(await names(page), second);
    },
  },
  {
    name: 'Lists: the keyboard sorts a table by its headers, which show the order',
    async run({ demo, page }) {
      await page.goto(`${demo.admin}/dashboard/limits`);
      await shown(page);
      const table = page.getByRole('table', { name: 'Limits' });
      const versions = () => table.getByRole('rowheader').allTextContents();
      await tabTo(page, 'Version');
      await page.keyboard.press('Enter');
      await table.locator('th[aria-sort="ascending"]').waitFor();
      const ascending = await versions();
      await page.keyboard.press('Enter');
      await table.locator('th[aria-sort="descending"]').waitFor();
      assert.notDeepEqual(await versions(), ascending);
      assert.equal(new URL(page.url()).search, '?sort=-version');
    },
  },
  {
    name: 'Lists: a search field keeps its focus and text while the page updates itself',
    async run({ demo, page }) {
      await page.clock.install();
      await sixtyApis(page);
      await page.goto(`${demo.admin}/dashboard/`);
      await shown(page);
      const field = page.getByRole('searchbox', { name: 'Search versions' }).first();
      await field.pressSequentially('api-0');
      const again = page.waitForResponse('**/-/reload');
      await page.clock.fastForward(20_000);
      await again;
      await field.pressSequentially('7');
      await page.getByText('3 of 180 versions').waitFor();
      assert.equal(await field.inputValue(), 'api-07');
    },
  },
  {
    name: 'Lists: the warnings are one line until they are opened, and the configuration starts closed',
    async run({ demo, page }) {
      await sixtyApis(page);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${demo.admin}/dashboard/configuration`);
      await shown(page);
      const warnings = page.getByRole('complementary');
      const line = await warnings.boundingBox();
      assert.ok(line !== null && line.height < 70, JSON.stringify(line));
      assert.equal(await page.locator('main details[open]').count(), 0);
      assert.ok((await page.locator('main details').count()) > 5);
      await warnings.getByText('60 sunsets within 180 days').click();
      assert.equal(await warnings.getByRole('listitem').count(), 21);
      assert.ok(await warnings.getByRole('link', { name: '40 more' }).isVisible());
    },
  },
  {
    name: 'Lists: an unknown URL shows a page with a link back, and other clients get an error body',
    async run({ demo, context, page }) {
      const answer = await page.goto(`${demo.admin}/dashboard/nowhere`);
      assert.equal(answer?.status(), 404);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      assert.ok(await page.getByText('The gateway has no page at /dashboard/nowhere.').isVisible());
      await page.getByRole('link', { name: 'Go to the overview' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const body = await context.request.get(`${demo.admin}/dashboard/nowhere`);
      assert.equal(body.status(), 404);
      assert.equal((await body.json()).error, 'Not Found');
    },
  },
  {
    name: 'Lists: no page or table scrolls sideways at 390 and 1440 px, with at most five font sizes',
    async run({ demo, page }) {
      await sixtyApis(page);
      const sizes = new Set<string>();
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 844 });
        for (const path of PAGES) {
          await page.goto(demo.admin + path);
          await shown(page);
          const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
          assert.equal(wider, 0, `${path} at ${width}`);
          const cut = await page.evaluate(
            '[...document.querySelectorAll(".list")].filter((each) => each.scrollWidth > each.clientWidth).length',
          );
          assert.equal(cut, 0, `a table of ${path} at ${width}`);
          for (const size of await page.evaluate<string[]>(FONT_SIZES)) sizes.add(size);
        }
      }
      assert.ok(sizes.size <= 5, [...sizes].join(', '));
    },
  },
];

const FONT_SIZES =
  '[...document.querySelectorAll("body *")].filter((each) => each.textContent.trim() !== "").map((each) => getComputedStyle(each).fontSize)';
