// The URL of a guide: its own page, or a section of the API's lifecycle page.
import { guideId, isGuideFile } from '../../policy/lifecycle/guide.ts';
import { LIFECYCLE, lifecycleUrl } from '../routes/reserved-paths.ts';

/** A guide from a file, for the lifecycle page. Plain data: threads pass it to each other. */
export interface Guide {
  /** Its fragment on the page. */
  readonly id: string;
  /** Safe HTML: see read-guides.ts. */
  readonly html: string;
}

export function guideUrl(guide: string, publicOrigin: string, api: string): string {
  return isGuideFile(guide) ? `${lifecycleUrl(publicOrigin, api)}#${guideId(guide)}` : guide;
}

/** Whether `written` leads to this guide on the lifecycle page, with any host name. */
export function leadsToGuide(written: string, file: string, api: string): boolean {
  const url = URL.parse(written, 'https://gateway.invalid');
  return url?.pathname === `${LIFECYCLE}/${api}` && url.hash === `#${guideId(file)}`;
}
