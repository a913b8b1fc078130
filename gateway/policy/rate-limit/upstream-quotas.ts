// What an upstream says of limits of its own (RateLimit, RateLimit-Policy), told beside ours so that none passes for another.
// Asked when an answer is decorated, and only where the upstream sent such a line.
import type { LimitRules } from './limit.ts';

/** No name of ours has a colon. */
const THEIRS = 'upstream:';

const STRING = String.raw`"(?:[ !#-[\]-~]|\\["\\])*"`;
const KEY = '[a-z*][a-z0-9_.*-]*';
/** Every bare item of RFC 9651 §3.3. */
const BARE = [
  String.raw`-?\d{1,15}(?:\.\d{1,3})?`,
  STRING,
  "[A-Za-z*][!#$%&'*+.^_`|~:/0-9A-Za-z-]*",
  ':[A-Za-z0-9+/=]*:',
  String.raw`\?[01]`,
  String.raw`@-?\d{1,15}`,
  '%"(?:[ !#$&-~]|%[0-9a-f]{2})*"',
].join('|');
const MEMBER = new RegExp(`(${STRING})((?:; *${KEY}(?:=(?:${BARE}))?)*)[ \\t]*(?:(,)[ \\t]*|$)`, 'y');

/**
 * RL-5: a name stands for one policy, in every answer. One of theirs that is the name of a limit here, in any stage, is told
 * as `upstream:name`. Ours keep theirs: the 429 and its `violated-policies` say them where no upstream has answered, so that
 * a client which had to tell `default` from `default` would take the room of the one for that of the other. No value changes,
 * so that nothing is relaxed. Undefined for what is no list of such items: a client must ignore it, and ours with it.
 */
export function besideOurs(
  theirs: string | readonly string[],
  { each }: Pick<LimitRules, 'each'>,
): string | undefined {
  const ours = each.flatMap(({ active, deprecated, shadow }) =>
    shadow ? [] : [active.name, deprecated.name],
  );
  const text = typeof theirs === 'string' ? theirs : theirs.join(', ');
  if (ours.length === 0) return text;
  const told: string[] = [];
  MEMBER.lastIndex = 0;
  for (;;) {
    const [, quoted, parameters = '', comma] = MEMBER.exec(text) ?? [];
    if (quoted === undefined) return undefined;
    const name = quoted.slice(1, -1);
    // One that has the prefix already, from another gateway, gets it again: two names stay two.
    const isTaken = ours.includes(name) || name.startsWith(THEIRS);
    told.push(`"${isTaken ? THEIRS : ''}${name}"${parameters}`);
    if (comma === undefined) return told.join(', ');
  }
}
