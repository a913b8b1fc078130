// Finds the path of Chromium, and prints it when run as a command.
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path in CHROMIUM, or one of the usual paths. Undefined if none exists. */
export function findChromium(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  return [environment.CHROMIUM, ...PLACES].find((path) => path !== undefined && existsSync(path));
}

if (import.meta.main) {
  const found = findChromium(process.env);
  if (found !== undefined) process.stdout.write(`${found}\n`);
  process.exitCode = found === undefined ? 1 : 0;
}
