// One slip in a file that is otherwise in order, and what `check` finds of it.
// The tables beside are read by slips.test.ts.

/** `from` is replaced by `to`; `expected` is `line «what it points at» severity: message (hint)`. */
export type Slip = readonly [name: string, from: string | RegExp, to: string, expected: string];
