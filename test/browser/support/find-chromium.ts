// Where Chromium is on this machine. As a command it prints that, and ends with 1 when there is none.
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program that CHROMIUM names, or one in the usual places; undefined when there is none. */
export function findChromium(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  return [environment.CHROMIUM, ...PLACES].find((path) => path !== undefined && existsSync(path));
}

if (import.meta.main) {
  const found = findChromium(process.env);
  if (found !== undefined) process.stdout.write(`${found}\n`);
  process.exitCode = found === undefined ? 1 : 0;
}
