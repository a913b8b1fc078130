// Actions of an operator at the dashboard: wait for a page, use the keyboard, sign in, get warnings early.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const MAX_TABS = 30;

/** The sunsets of the demo are further off than 90 days, the default of the warnings. */
export async function warnEarly(page: Page, noticeDays: number): Promise<void> {
  await page.route('**/-/versions', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), noticeDays } });
  });
}

export const shown = (page: Page) => page.locator('main h1').waitFor();

/** Presses Tab, as a person without a mouse does. */
export async function tabTo(page: Page, text: string): Promise<void> {
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    await page.keyboard.press('Tab');
    if ((await page.locator(':focus').textContent()) === text) return;
  }
  assert.fail(`no Tab leads to "${text}"`);
}

export async function signIn(page: Page, dataFolder: string): Promise<void> {
  const token = (await readFile(join(dataFolder, 'admin-token'), 'utf8')).trim();
  await tabTo(page, 'Sign in');
  await page.keyboard.press('Enter');
  await page.locator('#token:focus').waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
