// Where Chromium is on this machine.
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program that CHROMIUM names, or one in the usual places; undefined when there is none. */
export function findChromium(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  return [environment.CHROMIUM, ...PLACES].find((path) => path !== undefined && existsSync(path));
}
