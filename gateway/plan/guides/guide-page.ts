// Where a guide is read: on its own page, or as a part of the page on which the gateway tells of the API's life.
import { guideId, isGuideFile } from '../../policy/lifecycle/guide.ts';
import { LIFECYCLE, lifecycleUrl } from '../routes/reserved-paths.ts';

/** A guide that was a file, as the lifecycle page shows it; plain data that is handed from thread to thread. */
export interface Guide {
  /** Its fragment on the page. */
  readonly id: string;
  /** Safe to be put into a page as it is: see render-markdown.ts. */
  readonly html: string;
}

/** The absolute URL of what a policy names as guide. */
export function guideUrl(guide: string, publicOrigin: string, api: string): string {
  return isGuideFile(guide) ? `${lifecycleUrl(publicOrigin, api)}#${guideId(guide)}` : guide;
}

/** Whether `written` leads to this file on the lifecycle page, by whatever name the gateway is called there. */
export function leadsToGuide(written: string, file: string, api: string): boolean {
  const url = URL.parse(written, 'https://gateway.invalid');
  return url?.pathname === `${LIFECYCLE}/${api}` && url.hash === `#${guideId(file)}`;
}
