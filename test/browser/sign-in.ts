// A person signs in at the sample client: login, consent, an API call, refresh, and a stolen token.
import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import type { Scenario } from './support/scenario.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function typePassword(page: Page, user = 'ana', password = 'sunrise-sample'): Promise<void> {
  await page.getByLabel('Name').fill(user);
  await page.getByLabel('Password').fill(password);
}

async function signIn(page: Page, client: string, way = 'Sign in'): Promise<void> {
  await page.goto(client);
  await button(page, way).click();
  await typePassword(page);
  await button(page, 'Sign in').click();
  await button(page, 'Allow').click();
  await page.getByRole('status').filter({ hasText: 'You are signed in.' }).waitFor();
}

async function says(page: Page, role: 'status' | 'alert', text: string): Promise<void> {
  await page.getByRole(role).filter({ hasText: text }).waitFor();
}

const wholeFlow = (way: string, client: string): Scenario => ({
  name: `OAuth: ${way}: login, consent, API call, refresh, and a reused token ends the session`,
  async run({ demo, context, page }) {
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    const home = demo.service('client');
    await signIn(page, home, way);
    // The URL has no code any more. No token was ever in the URL or readable by a script.
    assert.equal(page.url(), `${home}/`);
    assert.ok(await page.getByText(`${client}, `).isVisible());

    await button(page, 'Orders, v2').click();
    assert.equal(await page.locator('#status').textContent(), '200');
    assert.match((await page.locator('pre').textContent()) ?? '', /"data": \[/);
    await button(page, 'Orders, v1 (deprecated)').click();
    assert.equal(await page.locator('#status').textContent(), '200');
    assert.ok(await page.getByText('@1768435200').isVisible());

    await button(page, 'Refresh').click();
    await says(page, 'status', 'There are new tokens');
    assert.equal(await page.locator('#refreshed').textContent(), '1');

    await page.getByRole('button', { name: 'Use the old refresh token again' }).click();
    await says(page, 'status', 'Refused, invalid_grant');
    await button(page, 'Refresh').click();
    await says(page, 'alert', 'The issuer has ended this session. Sign in again.');

    const origins = new Set(requests.map((request) => new URL(request.url()).origin));
    assert.deepEqual(origins, new Set([home, demo.gateway]));
    const html = await page.content();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    assert.ok(!/eyJ/.test(html + kept + requests.map((request) => request.url()).join()));
    for (const { httpOnly, sameSite } of await context.cookies())
      assert.deepEqual([httpOnly, sameSite], [true, 'Lax']);
  },
});

export const scenarios: readonly Scenario[] = [
  wholeFlow('Sign in', 'storefront'),
  wholeFlow('Sign in without PKCE', 'classic'),
  {
    name: 'OAuth: the keyboard is enough to sign in, in dark mode on a phone',
    async run({ demo, page }) {
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 640 });
      await page.goto(demo.service('client'));
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByLabel('Password').waitFor();
      const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.equal(colour, 'rgb(22, 24, 28)');
      assert.ok(width <= 360, `the page is ${width} wide`);
      // The name field has the focus already.
      await page.keyboard.type('ana');
      await page.keyboard.press('Tab');
      await page.keyboard.type('sunrise-sample');
      await page.keyboard.press('Enter');
      await button(page, 'Allow').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await says(page, 'status', 'You are signed in.');
    },
  },
  {
    name: 'OAuth: a wrong password can be corrected, and the client shows that consent was denied',
    async run({ demo, page }) {
      await page.goto(demo.service('client'));
      await button(page, 'Sign in').click();
      await typePassword(page, 'ana', 'wrong');
      await button(page, 'Sign in').click();
      await says(page, 'alert', 'The name or the password is wrong.');
      assert.equal(await page.getByLabel('Name').inputValue(), 'ana');
      await typePassword(page);
      await button(page, 'Sign in').click();
      await button(page, 'Do not allow').click();
      await says(page, 'alert', 'The sign-in failed: access_denied');
    },
  },
  {
    name: 'OAuth: signing out ends the session at the client and at the issuer',
    async run({ demo, page }) {
      const home = demo.service('client');
      await signIn(page, home);
      await button(page, 'Sign out').click();
      await page.getByRole('heading', { name: 'Sign out?' }).waitFor();
      await button(page, 'Sign out').click();
      await button(page, 'Sign in without PKCE').waitFor();
      assert.equal(page.url(), `${home}/`);
      await button(page, 'Sign in').click();
      await page.getByLabel('Password').waitFor();
    },
  },
  {
    name: 'OAuth: the client refuses a forged callback',
    async run({ demo, page }) {
      const home = demo.service('client');
      await page.goto(`${home}/callback?code=stolen&state=guessed&iss=${demo.gateway}/auth`);
      await says(page, 'alert', 'That sign-in was not started in this browser.');
      await page.goto(home);
      await button(page, 'Sign in').click();
      await page.getByLabel('Password').waitFor();
      await page.goto(`${home}/callback?code=stolen&state=guessed&iss=${demo.gateway}/auth`);
      await says(page, 'alert', 'That sign-in was not started in this browser.');
    },
  },
];
