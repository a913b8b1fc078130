// The changes that a policy makes to request and response headers.

/** Names in lower case. */
export interface HeaderEdits {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

export interface HeaderRules {
  readonly request: HeaderEdits;
  readonly response: HeaderEdits;
  readonly kept?: KeptFields | undefined;
}

/** Client fields that are forwarded although the table of client fields drops them. Names in lower case. */
export interface KeptFields {
  readonly names: readonly string[];
  readonly from: 'trusted_proxies' | 'any';
}
