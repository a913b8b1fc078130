// A mail in lines, before it is text or HTML.
// Made by mail.ts, written by it and by html.ts.

/** What is said of one version or operation, in lines. */
export interface MailPart {
  readonly titles: readonly string[];
  readonly sentences: readonly string[];
  /** Of each reader. */
  readonly evidence: readonly (readonly string[])[];
}

export interface MailFrame {
  readonly opening: string;
  readonly closing: string;
}
