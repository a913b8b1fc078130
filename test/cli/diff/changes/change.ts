// One edit of a policy, and the lines that `sundial diff` says of it.
// The tables beside are read by diff.test.ts.

/** `from` is replaced by `to` in `WIDE`. */
export type Change = readonly [name: string, from: string, to: string, ...lines: string[]];
