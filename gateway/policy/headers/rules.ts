// What a policy changes in the header fields of requests and answers.

/** Changes to one header section; names in lower case. */
export interface HeaderEdits {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** What an API's policy changes in what clients send and what upstreams answer. */
export interface HeaderRules {
  readonly request: HeaderEdits;
  readonly response: HeaderEdits;
  /** Undefined: nothing is kept of what is dropped on the way in. */
  readonly kept?: KeptFields | undefined;
}

/** Fields of clients that go on although the table of client-fields.ts drops them; names in lower case. */
export interface KeptFields {
  readonly names: readonly string[];
  /** Whose requests: those of the trusted proxies alone, or all. */
  readonly from: 'trusted_proxies' | 'any';
}
