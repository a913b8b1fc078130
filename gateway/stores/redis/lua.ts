// Loads Lua scripts and adds the nonce by which a reply is matched to its call.
import { readFileSync } from 'node:fs';

export function luaText(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
}

/**
 * A script that takes a nonce as its last argument and returns it with the reply. `lua` gets the other
 * arguments.
 */
export function withNonce(lua: string): string {
  return `local nonce = table.remove(ARGV)\nlocal function answer()\n${lua}\nend\nreturn { nonce, answer() }`;
}

export function hasNonce(nonce: string, reply: unknown): reply is readonly [string, unknown] {
  return Array.isArray(reply) && reply[0] === nonce;
}
