// The contract of the files in test/browser: scenarios, each in a browser context of its own.
import type { BrowserContext, Page } from 'playwright-core';
import type { BrowserDemo } from './demo.ts';

export interface Stage {
  readonly demo: BrowserDemo;
  /** New, without cookies or storage. */
  readonly context: BrowserContext;
  readonly page: Page;
}

export interface Scenario {
  /** A sentence about what a person sees. */
  readonly name: string;
  /** Rejects if the person does not see it. */
  readonly run: (stage: Stage) => Promise<void>;
}
