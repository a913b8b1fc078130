// An edit of a policy with its lines in `sundial diff`.

/** Replaces `from` with `to` in `WIDE`. */
export type Change = readonly [name: string, from: string, to: string, ...lines: string[]];
