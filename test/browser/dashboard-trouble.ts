// The dashboard during failures: a gateway that is away or slow, an unavailable store, an unknown address.
import assert from 'node:assert/strict';
import type { Page, Route } from 'playwright-core';
import { warnEarly } from './support/operator.ts';
import type { Scenario } from './support/scenario.ts';

const ORDERS_V1 = '/dashboard/version?api=orders&version=v1';
const AWAY = { error: 'Service Unavailable', message: 'The store does not answer. Retry the request.' };

const shown = (page: Page) => page.locator('main h1').waitFor();
const ledgerAway = (route: Route) => route.fulfill({ status: 503, body: JSON.stringify(AWAY) });

export const scenarios: readonly Scenario[] = [
  {
    name: 'Dashboard: an alert at the top reports that the gateway does not answer, and the data stays',
    async run({ demo, page }) {
      await page.clock.install();
      await page.goto(`${demo.admin}/dashboard/`);
      await shown(page);
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await page.route('**/-/**', (route) => route.abort());
      await page.clock.fastForward(6_000);
      const alert = page.getByRole('alert').filter({ hasText: 'The gateway does not answer.' });
      await alert.waitFor();
      assert.match((await alert.textContent()) ?? '', /The data shown is from 2026-11-20 00:\d\d:\d\d UTC/);
      const box = await alert.boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y < 100, JSON.stringify(box));
      assert.ok(await page.locator('.timeline').getByRole('link', { name: 'orders v1' }).count());
      await page.unroute('**/-/**');
      await page.clock.fastForward(6_000);
      await alert.waitFor({ state: 'detached' });
    },
  },
  {
    name: 'Dashboard: the page polls once at a time, and not while its tab is hidden',
    async run({ demo, page }) {
      await page.clock.install();
      await page.goto(`${demo.admin}/dashboard/`);
      await shown(page);
      const held: Route[] = [];
      let holds = true;
      await page.route('**/-/**', async (route) => {
        if (holds) held.push(route);
        else await route.continue();
      });
      for (let times = 0; times < 20; times += 1)
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await page.clock.fastForward(9_000);
      assert.equal(held.length, 1);
      await page.evaluate("Object.defineProperty(document, 'hidden', { configurable: true, value: true })");
      holds = false;
      const asked: string[] = [];
      const looked = page.waitForResponse('**/-/reload');
      await held[0]?.continue();
      await looked;
      page.on('request', (request) => asked.push(request.url()));
      await page.clock.fastForward(60_000);
      assert.deepEqual(asked, []);
      const again = page.waitForResponse('**/-/versions');
      await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
      await again;
    },
  },
  {
    name: 'Dashboard: a version is shown, and can be paused, while the ledger does not answer',
    async run({ demo, page }) {
      await page.route('**/-/usage?*', ledgerAway);
      await page.route('**/-/versions/orders/v1', ledgerAway);
      await page.goto(demo.admin + ORDERS_V1);
      await page.getByText(AWAY.message).waitFor();
      assert.ok(await page.getByText('money amounts become integers').isVisible());
      assert.ok(await page.getByRole('heading', { name: 'Pauses and holds' }).isVisible());
      assert.equal(await page.locator('#trouble').textContent(), '');
    },
  },
  {
    name: 'Dashboard: the overview does not wait for a slow ledger, and shows its warnings when it responds',
    async run({ demo, page }) {
      const held: Route[] = [];
      await warnEarly(page, 180);
      await page.route('**/-/usage?*', (route) => {
        held.push(route);
      });
      await page.goto(`${demo.admin}/dashboard/`);
      await page.getByText('loading from the ledger').waitFor({ timeout: 5_000 });
      const warnings = page.getByRole('complementary');
      await warnings.getByText('1 sunset within 180 days').click();
      assert.ok(await warnings.getByRole('link', { name: 'orders v1' }).isVisible());
      // Without a further poll, the page shows each response when it arrives.
      await page.route('**/-/session', () => undefined);
      await held[0]?.continue();
      await warnings
        .getByText(/too early to say|still call/)
        .first()
        .waitFor();
      assert.equal(await page.getByText('loading from the ledger').count(), 0);
    },
  },
  {
    name: 'Dashboard: every page lists APIs with a refused policy file, and what the gateway serves instead',
    async run({ demo, page }) {
      await page.route('**/-/versions', async (route) => {
        const response = await route.fetch();
        const refused = { quarantined: ['orders'], leftOut: ['refunds'] };
        await route.fulfill({ response, json: { ...(await response.json()), ...refused } });
      });
      for (const query of ['', 'configuration', 'version?api=orders&version=v1']) {
        await page.goto(`${demo.admin}/dashboard/${query}`);
        await shown(page);
        const warnings = page.getByRole('complementary');
        await warnings.getByText('2 policy files refused').click();
        for (const says of [
          'The policy file of orders is refused: the gateway serves its last accepted form.',
          'The policy file of refunds is refused: the gateway does not serve it.',
        ])
          await warnings.getByText(says).waitFor();
        assert.ok(await warnings.getByRole('link', { name: 'Show the problems' }).first().isVisible());
      }
    },
  },
  {
    name: 'Dashboard: an unknown version and an invalid consumer show a page with a link to the overview',
    async run({ demo, page }) {
      for (const [query, says] of [
        [
          'version?api=orders&version=v9',
          'The API orders has no version v9. It has: orders v0, orders v1, orders v2.',
        ],
        ['version?api=nothing&version=v1', 'The policies have no API nothing.'],
        ['version', 'The policies have no API "".'],
        [`consumer?id=${'x'.repeat(300)}`, '"consumer" is empty, too long or not printable'],
      ] as const) {
        await page.goto(`${demo.admin}/dashboard/${query}`);
        await shown(page);
        assert.match((await page.locator('main').textContent()) ?? '', new RegExp(says));
        assert.ok(await page.getByRole('heading', { name: /not found$/ }).isVisible());
        assert.ok(await page.getByRole('link', { name: 'Go to the overview' }).isVisible());
        assert.equal(await page.locator('#trouble').textContent(), '');
      }
    },
  },
  {
    name: 'Dashboard: signing out reports an unavailable gateway, and submitting a pause twice sends one',
    async run({ demo, page, context }) {
      await page.route('**/-/session', async (route) => {
        const [method, signedIn] = [route.request().method(), { signedIn: true, readable: true }];
        await (method === 'GET' ? route.fulfill({ body: JSON.stringify(signedIn) }) : route.abort());
      });
      await page.goto(demo.admin + ORDERS_V1);
      await shown(page);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('alert').filter({ hasText: 'The gateway does not answer.' }).waitFor();
      const pauses: Route[] = [];
      await page.route('**/-/pauses', (route) => {
        pauses.push(route);
      });
      await page.getByText('Pause brownouts and sunset').first().click();
      for (const label of ['Duration', 'Your name', 'Reason']) await page.getByLabel(label).fill('2h');
      await page.getByLabel('Reason').press('Enter');
      await page.getByLabel('Reason').press('Enter');
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
      assert.equal(pauses.length, 1);
      await context.clearCookies();
    },
  },
];
