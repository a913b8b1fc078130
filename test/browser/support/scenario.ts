// What a file of test/browser brings: scenarios, each in a browser of its own before the one demo that runs for all.
import type { BrowserContext, Page } from 'playwright-core';
import type { BrowserDemo } from './demo.ts';

export interface Stage {
  readonly demo: BrowserDemo;
  /** Fresh: no cookie, nothing kept. */
  readonly context: BrowserContext;
  readonly page: Page;
}

export interface Scenario {
  /** A sentence about what a person sees. */
  readonly name: string;
  /** Rejects when that is not so. */
  readonly run: (stage: Stage) => Promise<void>;
}
