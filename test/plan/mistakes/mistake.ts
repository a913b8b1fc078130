// The type of the rows of single-mistakes.test.ts: one mistake and its finding.

/** Replaces `from` by `to`. `expected`: `line «marked text» severity: message (hint)`. */
export type Mistake = readonly [name: string, from: string | RegExp, to: string, expected: string];
