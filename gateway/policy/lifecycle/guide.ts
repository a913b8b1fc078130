// Distinguishes migration guides that are Markdown files beside the policy from URLs.

/** The file name becomes a URL fragment, so it contains only characters that need no escaping. */
const FILE = /^(?![A-Za-z][A-Za-z0-9+.-]*:)(?:[^\p{Cc}\\]{0,1000}\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,99})\.md$/u;

export function isGuideFile(guide: string): boolean {
  return FILE.test(guide);
}

/** The fragment on the lifecycle page: `guide-v1-to-v2` for `./guides/v1-to-v2.md`. */
export function guideId(file: string): string {
  return `guide-${FILE.exec(file)?.[1] ?? ''}`;
}
