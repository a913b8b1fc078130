// The migration guide of a version: a page elsewhere, or a Markdown file beside the policy that the lifecycle page shows.

/** The name becomes part of a URL, so that it is made of what needs no escaping there. */
const FILE = /^(?![A-Za-z][A-Za-z0-9+.-]*:)(?:[^\p{Cc}\\]{0,1000}\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,99})\.md$/u;

/** Whether a guide is a file, relative to the policy; a URL otherwise. */
export function isGuideFile(guide: string): boolean {
  return FILE.test(guide);
}

/** The fragment under which the lifecycle page shows it: `guide-v1-to-v2` of `./guides/v1-to-v2.md`. */
export function guideId(file: string): string {
  return `guide-${FILE.exec(file)?.[1] ?? ''}`;
}
