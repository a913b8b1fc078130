// Scripts that say a mark of their call back before their answer, so that nobody takes the answer to another call for theirs.
// Where a reply is lost on the way, or comes twice, every one after it on that connection is the answer to another call: the
// bucket, or the kept answer, of another caller. link.ts sends them.

/** The script; a call of it has its mark as a last argument, of which `lua` learns nothing. */
export function marked(lua: string): string {
  return `local mark = table.remove(ARGV)\nlocal function answer()\n${lua}\nend\nreturn { mark, answer() }`;
}

export function isAnswerTo(mark: string, reply: unknown): reply is readonly [string, unknown] {
  return Array.isArray(reply) && reply[0] === mark;
}
