// An operator finds ending versions and their callers: without a mouse, on a phone, in light and dark.
import assert from 'node:assert/strict';
import { shown, signIn, tabTo, warnEarly } from './support/operator.ts';
import type { Scenario } from './support/scenario.ts';

const ORDERS_V1 = '/dashboard/version?api=orders&version=v1';
const PAGES = [
  '/dashboard/',
  ORDERS_V1,
  '/dashboard/consumer',
  '/dashboard/consumer?id=nobody',
  '/dashboard/limits',
  '/dashboard/upstreams',
  '/dashboard/webhooks',
  '/dashboard/configuration',
];
const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';

export const scenarios: readonly Scenario[] = [
  {
    name: 'Dashboard: one time axis with every version and today, warnings above, no external content',
    async run({ demo, page }) {
      const wrong: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') wrong.push(message.text());
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(demo.admin)) wrong.push(request.url());
      });
      await warnEarly(page, 180);
      await page.goto(demo.admin);
      await shown(page);
      assert.equal(page.url(), `${demo.admin}/dashboard/`);
      for (const name of ['orders v0', 'orders v1', 'orders v2', 'catalog v1', 'payments 2024-09-01'])
        assert.ok(await page.locator('.timeline').getByRole('link', { name, exact: true }).isVisible(), name);
      const rows = await page.locator('.timeline .life').count();
      assert.equal(await page.locator('.timeline svg.now line.today').count(), rows);
      const warnings = page.getByRole('complementary', { name: 'Warnings' });
      assert.match((await warnings.textContent()) ?? '', /orders v1 ends on 15 Apr 2027, in 14\d days\./);
      for (const path of PAGES) {
        await page.goto(demo.admin + path);
        await shown(page);
        const link = warnings.getByRole('link', { name: 'orders v1' });
        assert.equal(await link.count(), 0, `${path}: the warnings start closed`);
        await warnings.getByText(/^1 sunset within 180 days/).click();
        assert.ok(await link.isVisible(), path);
      }
      assert.deepEqual(wrong, []);
    },
  },
  {
    name: 'Dashboard: a new request appears by itself, and the focused link keeps the focus',
    async run({ demo, context, page }) {
      await page.goto(`${demo.admin}/dashboard/`);
      await shown(page);
      const link = page.locator('.timeline').getByRole('link', { name: 'orders v1', exact: true });
      await link.focus();
      const row = page
        .getByRole('table', { name: 'Requests by version' })
        .getByRole('row', { name: /^catalog v2/ });
      assert.equal(await row.count(), 0);
      const answer = await context.request.get(`${demo.gateway}/api/v2/catalog`);
      assert.equal(answer.status(), 200);
      await row.waitFor();
      assert.equal(await page.locator(':focus').textContent(), 'orders v1');
    },
  },
  {
    name: 'Dashboard: the keyboard is enough to sign in, reload the policies and sign out',
    async run({ demo, context, page }) {
      await page.goto(`${demo.admin}/dashboard/configuration#sign-in`);
      await page.getByLabel('Admin token').fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'This is not the admin token.' }).waitFor();
      await page.goto(`${demo.admin}/dashboard/configuration`);
      await shown(page);
      await signIn(page, demo.dataFolder);
      const [cookie] = await context.cookies(`${demo.admin}/-/session`);
      assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.path], [true, 'Strict', '/-/']);
      await tabTo(page, 'Reload policies');
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Done: unchanged.' }).waitFor();
      await page.goto(`${demo.admin}/dashboard/configuration`);
      await shown(page);
      await tabTo(page, 'Sign out');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Sign in', exact: true }).first().waitFor();
      assert.deepEqual(await context.cookies(`${demo.admin}/-/session`), []);
    },
  },
  {
    name: 'Dashboard: an operator pauses a version and ends the pause',
    async run({ demo, page }) {
      await page.goto(demo.admin + ORDERS_V1);
      await shown(page);
      await signIn(page, demo.dataFolder);
      await page.getByText('Pause brownouts and sunset').first().click();
      await page.getByLabel('Duration').fill('2h');
      await page.getByLabel('Your name').fill('ops');
      await page.getByLabel('Reason').fill('checkout fails');
      await page.getByRole('button', { name: 'Pause brownouts and sunset' }).click();
      const pauses = page.getByRole('table', { name: 'Pauses and holds' });
      await pauses.getByText('checkout fails').waitFor();
      await page.getByText('paused by an operator').waitFor();
      await pauses.getByText('End pause').first().click();
      await pauses.getByLabel('Your name').fill('ops');
      await pauses.getByLabel('Reason').fill('mended');
      await pauses.getByRole('button', { name: 'End pause' }).click();
      await page.getByText('No pauses or holds.').waitFor();
    },
  },
  {
    name: 'Dashboard: markup in the texts of policies and clients is shown as text',
    async run({ demo, page }) {
      await page.route('**/-/versions', async (route) => {
        const response = await route.fetch();
        const told: { apis: { api: string; versions: object[] }[] } = await response.json();
        const orders = told.apis.find(({ api }) => api === 'orders') ?? assert.fail('the demo has no orders');
        const script = 'javascript:document.title=1';
        orders.versions = orders.versions.map((each) => ({ ...each, reason: MARKUP, guide: script }));
        const versions = orders.versions.map((each) => ({ ...each, api: MARKUP }));
        const apis = [...told.apis, { ...orders, api: MARKUP, versions }];
        await route.fulfill({ response, json: { ...told, noticeDays: 180, apis } });
      });
      for (const path of ['/dashboard/', ORDERS_V1, `/dashboard/consumer?id=${encodeURIComponent(MARKUP)}`]) {
        await page.goto(demo.admin + path);
        await shown(page);
        assert.ok((await page.locator('body').textContent())?.includes(MARKUP), path);
        assert.equal(await page.locator('main img, main b, #warnings img').count(), 0);
        assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
        assert.match(await page.title(), /Sundial$/);
      }
    },
  },
  {
    name: 'Dashboard: pages show what needs no ledger while the ledger does not answer',
    async run({ demo, page }) {
      const away = { error: 'Service Unavailable', message: 'The store does not answer. Retry the request.' };
      await page.route('**/-/usage?*', (route) => route.fulfill({ status: 503, body: JSON.stringify(away) }));
      await page.goto(`${demo.admin}/dashboard/`);
      await page.getByText('the ledger does not answer').waitFor();
      assert.ok(
        await page.locator('.timeline').getByRole('link', { name: 'orders v1', exact: true }).isVisible(),
      );
      await page.goto(`${demo.admin}/dashboard/consumer`);
      await page.getByText('The ledger does not answer.').waitFor();
      await page.goto(demo.admin + ORDERS_V1);
      await page.getByText(away.message).first().waitFor();
    },
  },
  {
    name: 'Dashboard: no page is wider than a phone, in light and in dark',
    async run({ demo, page }) {
      await page.setViewportSize({ width: 360, height: 740 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const path of PAGES) {
          await page.goto(demo.admin + path);
          await shown(page);
          const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
          assert.equal(wider, 0, `${path} in ${colorScheme}`);
        }
        const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        assert.equal(ground, colorScheme === 'light' ? 'rgb(247, 246, 243)' : 'rgb(21, 23, 26)');
      }
    },
  },
];
