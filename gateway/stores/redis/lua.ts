// The scripts that Redis runs, as they lie beside this file.
// Registered by the part of the store that calls them.
import { readFileSync } from 'node:fs';

/** The text of `<name>.lua`. */
export function luaText(name: string): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');
}
