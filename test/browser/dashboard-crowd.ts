// The dashboard with more, longer and older data than the demo has, and how screen readers find its tables.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Scenario } from './support/scenario.ts';

const LONG = `${'a'.repeat(30)}-${'b'.repeat(29)}`;
const SHEKEL = 'שלום-עולם';
const PAGES = ['/dashboard/', '/dashboard/limits', '/dashboard/upstreams', '/dashboard/consumer'];

const shown = (page: Page) => page.locator('main h1').waitFor();

interface TheVersion {
  readonly version: string;
  readonly stage: string;
  readonly released: string | null;
  readonly sunset: string | null;
  readonly phases: readonly object[];
  operations: readonly object[];
}

/** The members of the gateway's bodies that are changed here. */
interface Told {
  readonly apis: readonly { readonly api: string; readonly versions: TheVersion[] }[];
  readonly versions: readonly object[];
  readonly limits: readonly object[];
  readonly upstreams: readonly object[];
}

/** Responds to requests for `path` with the gateway's body, changed. */
async function change(page: Page, path: string, changed: (told: Told) => unknown): Promise<void> {
  await page.route(`**${path}`, async (route) => {
    const told: Told = await (await route.fetch()).json();
    await route.fulfill({ contentType: 'application/json', body: JSON.stringify(changed(told)) });
  });
}

function ordersOf({ apis }: Told): Told['apis'][number] {
  const orders = apis.find(({ api }) => api === 'orders');
  return orders ?? assert.fail('the demo has no orders');
}

const use = (consumer: string, calls: number) => ({
  ...{ api: LONG, version: 'v1', consumer, via: 'token', calls, trend: { week: calls, weekBefore: 1 } },
  ...{ firstCall: '2026-11-01T00:00:00Z', lastCall: '2026-11-19T00:00:00Z', operations: [] },
});

/** Sixty versions, one of which lasts from the last century to the next. */
async function crowd(page: Page): Promise<void> {
  await change(page, '/-/versions', (told) => {
    const orders = ordersOf(told);
    const many = Array.from({ length: 20 }, (_, index) => {
      const api = index === 0 ? LONG : `api-${index}`;
      return { ...orders, api, versions: orders.versions.map((version) => ({ ...version, api })) };
    });
    const [first] = many;
    assert.ok(first);
    const [oldest] = first.versions;
    assert.ok(oldest);
    first.versions[0] = {
      ...oldest,
      ...{ released: '1961-01-01T00:00:00Z', sunset: '2099-01-01T00:00:00Z', stage: 'deprecated' },
      phases: [
        { stage: 'active', from: '1961-01-01T00:00:00Z', until: '1999-01-01T00:00:00Z' },
        { stage: 'deprecated', from: '1999-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' },
        { stage: 'retired', from: '2099-01-01T00:00:00Z', until: null },
      ],
    };
    return { ...told, apis: many };
  });
  await change(page, '/-/limits', ({ limits, ...told }) => ({
    ...told,
    limits: [{ ...limits[0], api: LONG, operation: `GET /${'x'.repeat(60)}` }, ...limits],
  }));
  await change(page, '/-/upstreams', ({ upstreams, ...told }) => ({
    ...told,
    upstreams: [{ ...upstreams[0], upstream: `${LONG}-v1`, versions: [{ api: LONG, version: 'v1' }] }],
  }));
  await change(page, '/-/usage?*', (told) => ({
    ...told,
    consumers: [use('x'.repeat(256), 40), use(SHEKEL, 3)],
    versions: [...told.versions, { ...told.versions[0], api: LONG, version: 'v1', consumers: 12_016 }],
  }));
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'Dashboard: sixty versions, a century of dates and names of sixty letters fit on every page',
    async run({ demo, page }) {
      await crowd(page);
      for (const width of [1280, 640, 360]) {
        await page.setViewportSize({ width, height: 800 });
        for (const path of PAGES) {
          await page.goto(demo.admin + path);
          await shown(page);
          const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
          assert.equal(wider, 0, `${path} at ${width}`);
        }
        await page.goto(`${demo.admin}/dashboard/`);
        await shown(page);
        // The year labels do not overlap, and lifetimes of a few years have enough width.
        const years = await page.locator('.years text:not(.today)').all();
        const boxes = await Promise.all(years.map((year) => year.boundingBox()));
        for (const [index, box] of boxes.entries()) {
          const before = boxes[index - 1];
          if (box && before) assert.ok(before.x + before.width <= box.x, `years overlap at ${width}`);
        }
        const life = page.locator('.timeline .row').filter({ hasText: 'api-1 v1' }).locator('.phase.active');
        assert.ok(((await life.boundingBox())?.width ?? 0) > width / 30, `no room at ${width}`);
        assert.equal(await page.locator('.timeline .row').nth(1).locator('line.sunset').count(), 0);
      }
    },
  },
  {
    name: 'Dashboard: consumers with the most calls come first, with the number of all consumers',
    async run({ demo, page }) {
      await crowd(page);
      const asked = page.waitForRequest((request) => request.url().includes('/-/usage?'));
      await page.goto(`${demo.admin}/dashboard/consumer`);
      await page.getByText(/^The 2 with the most calls of 12,\d\d\d\. sundial usage --format csv/).waitFor();
      assert.equal(new URL((await asked).url()).searchParams.get('most'), '100');
      assert.equal(await page.getByRole('link', { name: SHEKEL }).count(), 1);
    },
  },
  {
    name: 'Dashboard: a small share is < 0.1 %, large growth is a factor, and a partial list is marked',
    async run({ demo, page }) {
      await crowd(page);
      await change(page, '/-/traffic', (told) => ({
        ...told,
        requests: 90_000,
        deprecated: 1,
        share: 1 / 90_000,
      }));
      await change(page, '/-/usage?consumer=*', (told) => ({ ...told, next: '["","","","",""]' }));
      await page.goto(`${demo.admin}/dashboard/`);
      await page.locator('.tile').filter({ hasText: 'Deprecated share' }).getByText('< 0.1 %').waitFor();
      await page.goto(`${demo.admin}/dashboard/consumer`);
      await page.getByText('▲ 40 times').waitFor();
      await page.goto(`${demo.admin}/dashboard/consumer?id=acme`);
      await page.getByText('This page has the first').waitFor();
    },
  },
  {
    name: 'Dashboard: the focused row keeps the focus when the order changes',
    async run({ demo, page }) {
      await page.clock.install();
      let first = 'acme';
      await change(page, '/-/usage?*', (told) => ({
        ...told,
        consumers: [use(first, 9), use(first === 'acme' ? 'globex' : 'acme', 3)],
      }));
      await page.goto(`${demo.admin}/dashboard/consumer`);
      await page.getByRole('link', { name: 'acme' }).focus();
      first = 'globex';
      await page.clock.fastForward(20_000);
      await page.getByRole('rowheader').first().filter({ hasText: 'globex' }).waitFor();
      assert.equal(await page.locator(':focus').textContent(), 'acme');
      assert.match((await page.locator(':focus').getAttribute('href')) ?? '', /id=acme$/);
    },
  },
  {
    name: 'Dashboard: on a phone, a screen reader still finds the table with its headers',
    async run({ demo, page }) {
      await page.setViewportSize({ width: 360, height: 740 });
      await page.goto(`${demo.admin}/dashboard/limits`);
      await shown(page);
      const table = page.getByRole('table', { name: 'Limits' });
      // Without notes there is no such column.
      assert.equal(await table.getByRole('columnheader').count(), 6);
      assert.ok((await table.getByRole('rowheader').count()) > 5);
      assert.ok((await table.getByRole('cell', { name: 'consumer' }).count()) > 0);
    },
  },
  {
    name: 'Dashboard: warns of an operation that ends before its version, and a hash scrolls to its section',
    async run({ demo, page }) {
      await change(page, '/-/versions', (told) => {
        const orders = ordersOf(told);
        const v2 = orders.versions.find(({ version }) => version === 'v2');
        const dates = { released: null, deprecated: '2026-06-01T00:00:00Z', retired: null };
        assert.ok(v2);
        v2.operations = [
          { operation: 'GET /search', stage: 'deprecated', sunset: '2026-12-01T00:00:00Z', ...dates },
        ];
        return told;
      });
      await page.goto(`${demo.admin}/dashboard/#deprecated`);
      // The page's Content-Security-Policy forbids what waitForFunction does after its first check.
      await page.evaluate(
        'new Promise((done) => { const look = () => (scrollY > 0 ? done() : requestAnimationFrame(look)); look(); })',
      );
      const warnings = page.getByRole('complementary');
      await warnings.getByText('1 sunset within 90 days').click();
      await warnings.getByText('orders v2 GET /search ends on 1 Dec 2026, in 1').waitFor();
    },
  },
  {
    name: 'Dashboard: every text has enough contrast, in light and in dark',
    async run({ demo, page }) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const path of [
          ...PAGES,
          '/dashboard/configuration#sign-in',
          '/dashboard/version?api=orders&version=v1',
        ]) {
          await page.goto(demo.admin + path);
          await shown(page);
          assert.deepEqual(await page.evaluate(FAINT), [], `${path} in ${colorScheme}`);
        }
      }
    },
  },
];

/** Texts with a contrast below 4.5 (WCAG 2.2, 1.4.3). */
const FAINT = `(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parts(getComputedStyle(each).backgroundColor);
      if ((colour[3] ?? 1) > 0) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === '' || element.closest('noscript, title')) continue;
    const { color, fill } = getComputedStyle(element);
    const both = [parts(element instanceof SVGElement ? fill : color), ground(element)].map(light);
    const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (contrast < 4.5) faint.push(node.textContent + ' ' + contrast.toFixed(2));
  }
  return faint;
})()`;
