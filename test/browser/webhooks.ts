// An operator uses the webhooks page: subscriptions, their health, each attempt, and replay.
import assert from 'node:assert/strict';
import type { APIRequestContext, Page } from 'playwright-core';
import type { BrowserDemo } from './support/demo.ts';
import { shown, signIn } from './support/operator.ts';
import type { Scenario } from './support/scenario.ts';

const WEBHOOKS = '/dashboard/webhooks';
const RECEIVER = { 'x-consumer-id': 'sample-receiver', 'content-type': 'application/json' };
const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';

/** The demo's receiver subscribes once it runs. Returns its row and id. */
async function receiverRow(page: Page, demo: BrowserDemo) {
  await page.goto(demo.admin + WEBHOOKS);
  await shown(page);
  const host = `localhost:${new URL(demo.service('receiver')).port}`;
  const row = page.getByRole('table', { name: 'Subscriptions' }).getByRole('row').filter({ hasText: host });
  await row.waitFor();
  const id = (await row.getByRole('link').first().textContent()) ?? '';
  return { row, id };
}

async function sendTest(request: APIRequestContext, demo: BrowserDemo, id: string): Promise<string> {
  const path = `${demo.service('webhooks')}/webhooks/${id}/test`;
  const made = await request.post(path, { headers: RECEIVER, data: {} });
  assert.equal(made.status(), 201);
  return (await made.json()).id;
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'Webhooks: a delivery appears by itself with its attempts, and a signed-in operator replays it',
    async run({ demo, context, page }) {
      const { row, id } = await receiverRow(page, demo);
      assert.match((await row.textContent()) ?? '', /active.*sample-receiver/);
      await row.getByRole('link').first().click();
      await shown(page);
      await signIn(page, demo.dataFolder);
      const delivery = await sendTest(context.request, demo, id);
      const its = page.getByRole('row').filter({ hasText: delivery });
      await its.getByText('delivered', { exact: true }).waitFor();
      await its.getByText('1 attempt', { exact: true }).click();
      await its.getByText(/status 200, \d+ ms/).waitFor();
      const later = await sendTest(context.request, demo, id);
      await page.getByRole('row').filter({ hasText: later }).waitFor();
      // New rows above it did not close the details.
      assert.ok(await its.getByText(/status 200, \d+ ms/).isVisible());
      await its.getByRole('button', { name: 'Replay' }).focus();
      await page.keyboard.press('Enter');
      await its.getByText('2 attempts, 1 replay').waitFor();
    },
  },
  {
    name: 'Webhooks: markup of subscribers and receivers is text, also on a phone, in light and in dark',
    async run({ demo, context, page }) {
      const { id } = await receiverRow(page, demo);
      await sendTest(context.request, demo, id);
      const told = (text: string) =>
        text
          .replaceAll('"sample-receiver"', JSON.stringify(MARKUP))
          .replaceAll(/"(type|message)":"[^"]*"/g, (_, name) => `"${name}":${JSON.stringify(MARKUP)}`);
      await page.route('**/-/webhooks**', async (route) => {
        const body = told(await (await route.fetch()).text());
        await route.fulfill({ contentType: 'application/json', body });
      });
      await page.setViewportSize({ width: 360, height: 740 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const path of [WEBHOOKS, `${WEBHOOKS}?id=${id}`]) {
          await page.goto(demo.admin + path);
          await shown(page);
          assert.ok((await page.locator('main').textContent())?.includes(MARKUP), path);
          assert.equal(await page.locator('main img, main b').count(), 0);
          for (const details of await page.locator('main summary').all()) await details.click();
          const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
          assert.equal(wider, 0, `${path} in ${colorScheme}`);
        }
      }
    },
  },
  {
    name: 'Webhooks: the page names a missing setting, and reports an unavailable service',
    async run({ demo, page }) {
      const away = 'The webhooks service cannot be reached (ECONNREFUSED).';
      const unset = 'write notify: { webhooks: { deliveries: … } } into the gateway file';
      for (const [status, message] of [[503, away] as const, [404, unset] as const]) {
        await page.route('**/-/webhooks', (route) =>
          route.fulfill({ status, body: JSON.stringify({ error: 'x', message }) }),
        );
        await page.goto(demo.admin + WEBHOOKS);
        await page.getByRole('status').filter({ hasText: message }).waitFor();
        await page.unroute('**/-/webhooks');
      }
      // The page recovers by itself once the service responds again.
      await page.getByRole('table', { name: 'Subscriptions' }).waitFor();
    },
  },
];
