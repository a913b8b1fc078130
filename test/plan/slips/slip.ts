// The type of the rows of slips.test.ts: one mistake and its finding.

/** Replaces `from` by `to`. `expected`: `line «marked text» severity: message (hint)`. */
export type Slip = readonly [name: string, from: string | RegExp, to: string, expected: string];
