// The scripts that Redis runs, and the mark by which a reply is known for the answer to its call.
import { readFileSync } from 'node:fs';

/** The text of `scripts/<name>.lua`. */
export function luaText(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
}

/** The script; a call of it has its mark as a last argument, of which `lua` learns nothing. */
export function marked(lua: string): string {
  return `local mark = table.remove(ARGV)\nlocal function answer()\n${lua}\nend\nreturn { mark, answer() }`;
}

export function isAnswerTo(mark: string, reply: unknown): reply is readonly [string, unknown] {
  return Array.isArray(reply) && reply[0] === mark;
}
